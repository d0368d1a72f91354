import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { lockFile, projectRoot } from './places.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';

/**
 * Installs the packages of package-lock.json, unless node_modules holds just those already. Versions are compared, not
 * file times: a checkout of another branch and back installs nothing.
 *
 * @param {string} [root] the project
 * @throws {Error} with npm's own last lines, or where node_modules is a link: npm would empty the folder behind it
 */
export async function ensureDependencies(root = projectRoot) {
  if (isInstalled(root)) return;
  await withLock(lockFile('dependencies', root), 'the dependencies', async () => {
    if (isInstalled(root)) return;
    refuseLink(join(root, 'node_modules'));
    await step('Dependencies: npm ci', (detail) => npmCi(root, detail));
  });
}

/** @param {string} folder */
function refuseLink(folder) {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new Error(
    `${folder} is a link to packages that are not those of package-lock.json: remove it, or install there`,
  );
}

/** @param {string} root */
function isInstalled(root) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (!installed) return false;
  const locked = readPackages(join(root, 'package-lock.json')) ?? {};
  const { '': _root, ...wanted } = locked;
  const missing = Object.entries(wanted).some(([path, { version, optional }]) => {
    // An optional package of another platform is never installed.
    return installed[path] ? installed[path].version !== version : !optional;
  });
  return !missing && Object.keys(installed).every((path) => path in wanted);
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean }> | undefined} undefined when there is no such file
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} root
 * @param {(detail: string) => void} detail
 */
async function npmCi(root, detail) {
  // Development packages too, whatever NODE_ENV says: the build and the tests need them.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  // The npm that started us is known to be there, and on Windows it can't be spawned by its bare name.
  const npm = process.env.npm_execpath;
  if (npm?.endsWith('.js')) await run(process.execPath, [npm, ...args], { cwd: root, onLine: detail });
  else await run('npm', args, { cwd: root, onLine: detail });
}
