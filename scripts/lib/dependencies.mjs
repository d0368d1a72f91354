import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInForeground } from './foreground.mjs';
import { withLock } from './lock.mjs';
import { log } from './log.mjs';
import { projectRoot } from './paths.mjs';

/**
 * Installs the packages of package-lock.json, unless node_modules holds just those already. Versions are compared, not
 * file times: a checkout of another branch and back installs nothing.
 * Where node_modules is a link, nothing is installed: npm would empty the folder behind it.
 */
export async function ensureDependencies(root = projectRoot) {
  if (isInstalled(root)) return;
  await withLock(`${root} dependencies`, 'the dependencies', async () => {
    if (isInstalled(root)) return;
    const folder = join(root, 'node_modules');
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Error(
        `${folder} is a link to other packages than package-lock.json names: remove it, or install there`,
      );
    log('Dependencies: npm ci …');
    // Development packages too, whatever NODE_ENV says: the build and the tests need them.
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
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
    // An optional package of another platform is never installed.
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
