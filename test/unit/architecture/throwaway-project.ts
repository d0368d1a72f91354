import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../support/clean-up';

const root = join(__dirname, '..', '..', '..');

/**
 * A project with the rules and packages of this one, for files that must fail its checks.
 *
 * @param files paths inside the project to contents
 * @returns a function that runs an installed command there and returns its output, even if it exits with an error
 */
export async function throwawayProject(files: Readonly<Record<string, string>>) {
  const dir = temporaryFolder();
  for (const folder of ['node_modules', 'lint', 'scripts', 'types'])
    await symlink(join(root, folder), join(dir, folder), 'junction');
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
    await copyFile(join(root, file), join(dir, file));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  return (script: string, args: readonly string[]) =>
    new Promise<string>((resolve) => {
      const command = [join(root, 'node_modules', script), ...args];
      const options = { cwd: dir, maxBuffer: 64e6 };
      execFile(process.execPath, command, options, (_, stdout, stderr) => resolve(stdout + stderr));
    });
}
