import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

/** A project of one's own with this one's rules and packages, for files that must not pass here. */
export interface ThrowawayProject {
  readonly dir: string;
  /** Runs an installed command in it; a failing exit code is an answer, not an error. */
  run(script: string, args: readonly string[]): Promise<{ code: number; output: string }>;
  dispose(): Promise<void>;
}

/** Writes `files` (paths inside the project to contents) beside this project's own configuration. */
export async function throwawayProject(files: Readonly<Record<string, string>>): Promise<ThrowawayProject> {
  const dir = await mkdtemp(join(tmpdir(), 'throwaway-'));
  for (const folder of ['node_modules', 'lint', 'scripts', 'types'])
    await symlink(join(root, folder), join(dir, folder), 'junction');
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
    await copyFile(join(root, file), join(dir, file));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  return {
    dir,
    run: (script, args) =>
      new Promise((resolve) => {
        const command = [join(root, 'node_modules', script), ...args];
        execFile(process.execPath, command, { cwd: dir, maxBuffer: 64e6 }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
        );
      }),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}
