import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './log.mjs';
import { cacheDir } from './paths.mjs';

/** Longer than any work under a lock. By then another program may have the owner's process id. */
const EXPIRES_MS = 30 * 60_000;

/**
 * Does `work` in only one process of this machine at a time. The others wait, or take over if the owner has died. The
 * lock is a folder that contains its owner's name. A rename never replaces a non-empty folder, so a lock always appears
 * with its owner, and a late process can't move a live lock away: the dead owner's lock already has the new name.
 *
 * @type {<T>(name: string, what: string, work: () => Promise<T>) => Promise<T>} `what` is shown in messages
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

/** @type {(from: string, to: string) => boolean} false if another process was faster */
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
