import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './log.mjs';
import { cacheDir } from './paths.mjs';

/** Longer than anything takes that is done under a lock; by then its owner's process id may be another program's. */
const EXPIRES_MS = 30 * 60_000;

/**
 * Does `work` while no other process of this machine does it. A process that comes second says so once and waits; where the
 * owner has died, it takes over. The lock is a folder with its owner's name in it. A rename never replaces a folder that is
 * not empty: so the lock appears with its owner or not at all, and of several that find the same dead owner only the first
 * moves that lock away. The others would move the next owner's, but where they would move it to, the dead owner's lies.
 *
 * @type {<T>(name: string, what: string, work: () => Promise<T>) => Promise<T>} `what` is for people
 */
export async function withLock(name, what, work) {
  const owner = `${process.pid}-${randomUUID()}`;
  const lock = join(cacheDir(), 'locks', `${name.replaceAll(/\W+/g, '-').slice(-100)}-${hostname()}`);
  const draft = `${lock}.${owner}`;
  mkdirSync(join(draft, owner), { recursive: true });
  for (let told = false; !rename(draft, lock); await sleep(200)) {
    const [other] = await readdir(lock).catch(() => []);
    if (!other) continue;
    if (isDead(lock, other)) rename(lock, `${lock}.dead-${other}`);
    else if (!told) {
      told = true;
      log(`Another run (process ${parseInt(other)}) is busy with ${what}; waiting for it.`);
    }
  }
  try {
    return await work();
  } finally {
    if (existsSync(join(lock, owner))) rename(lock, draft);
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @type {(from: string, to: string) => boolean} false when another process was faster */
function rename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(error.code)) return false;
    throw error;
  }
}

/** @type {(lock: string, owner: string) => boolean} */
function isDead(lock, owner) {
  try {
    process.kill(parseInt(owner), 0);
  } catch (error) {
    if (error.code === 'ESRCH') return true;
  }
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.ctimeMs ?? Infinity) > EXPIRES_MS;
}
