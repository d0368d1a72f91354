import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own folder. */
export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Where tools are kept between runs and between checkouts: `FULFILMENT_CACHE_DIR`, else the user's cache folder.
 * Never inside the project, so that a fresh clone finds what an older one has built.
 *
 * @returns {string} an absolute path; the folder may not exist yet
 */
function cacheDir() {
  const { FULFILMENT_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (FULFILMENT_CACHE_DIR) return resolve(FULFILMENT_CACHE_DIR);
  const name = 'durable-fulfilment-worker';
  if (XDG_CACHE_HOME) return resolve(XDG_CACHE_HOME, name);
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', name);
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), name);
  return join(homedir(), '.cache', name);
}

/**
 * The folder of one tool in the cache. Version and platform are in its name, so a home folder that several machines
 * share mixes nothing up.
 *
 * @param {string} tool
 * @param {string} version
 */
export function toolDir(tool, version) {
  return join(cacheDir(), `${tool}-${version}-${process.platform}-${process.arch}`);
}

/**
 * The lock for `what`: one for each cache folder, and for work inside a checkout one for each checkout.
 *
 * @param {string} what
 * @param {string} [checkout] the checkout's folder, if the work is done inside it
 */
export function lockFile(what, checkout) {
  const suffix = checkout ? `-${createHash('sha256').update(checkout).digest('hex').slice(0, 12)}` : '';
  return join(cacheDir(), 'locks', `${what}${suffix}.lock`);
}
