import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInForeground } from './foreground.mjs';
import { withLock } from './lock.mjs';
import { log } from './log.mjs';
import { projectRoot } from './paths.mjs';

/**
 * Installs the packages of package-lock.json unless node_modules already matches it. It compares versions, not file
 * times, so that switching branches back and forth installs nothing. If node_modules is a link, it never installs,
 * because npm would empty the linked folder.
 */
export async function ensureDependencies(root = projectRoot) {
  if (isInstalled(root)) return;
  await withLock(`${root} dependencies`, 'the dependencies', async () => {
    if (isInstalled(root)) return;
    const folder = join(root, 'node_modules');
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Error(
        `${folder} is a link to packages that do not match package-lock.json: remove it, or run npm ci in the linked project`,
      );
    log('Dependencies: npm ci …');
    // The build and the tests need development packages, whatever NODE_ENV says.
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
    /** @type {import('node:child_process').SpawnOptions} */
    const options = { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
    const code = await runInForeground('npm', args, options);
    if (code !== 0) throw new Error(`npm ci ended with exit code ${code}`);
  });
}

/** @type {(root: string) => boolean} */
function isInstalled(root) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  const { '': _root, ...wanted } = readPackages(join(root, 'package-lock.json'));
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    // npm never installs optional packages for other platforms.
    if (installed[path] ? installed[path].version !== version : !optional) return false;
  }
  return Object.keys(installed).every((path) => path in wanted);
}

/** @type {(file: string) => Record<string, { version?: string, optional?: boolean }>} */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return {};
  }
}
