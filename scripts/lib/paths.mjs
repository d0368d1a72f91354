import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The project's own folder. */
export const projectRoot = resolve(import.meta.dirname, '../..');

/**
 * Where tools are kept between runs and between checkouts: `FULFILMENT_CACHE_DIR`, else the user's cache folder.
 * Never inside the project, so that a fresh clone finds what an older one has built.
 */
function cacheDir() {
  const { FULFILMENT_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (FULFILMENT_CACHE_DIR) return resolve(FULFILMENT_CACHE_DIR);
  const ofPlatform = { darwin: 'Library/Caches', win32: 'AppData/Local' }[String(process.platform)] ?? '.cache';
  return resolve(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ofPlatform), 'durable-fulfilment-worker');
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
export function lockPath(what, checkout) {
  const suffix = checkout ? `-${createHash('sha256').update(checkout).digest('hex').slice(0, 12)}` : '';
  return join(cacheDir(), 'locks', `${what}${suffix}`);
}
