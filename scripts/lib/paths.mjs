import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const projectRoot = resolve(import.meta.dirname, '../..');

/** The folder for tools, outside the project, so that a fresh clone finds what an older clone has built. */
export function cacheDir() {
  const { FULFILMENT_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (FULFILMENT_CACHE_DIR) return resolve(FULFILMENT_CACHE_DIR);
  const ofPlatform = { darwin: 'Library/Caches', win32: 'AppData/Local' }[String(process.platform)] ?? '.cache';
  return resolve(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ofPlatform), 'durable-fulfilment-worker');
}
