import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './log.mjs';

const HEARTBEAT_MS = 5_000;
const STALE_MS = 60_000;
const RETRY_MS = 200;

/** @typedef {{ pid: number, host: string, token: string }} Owner */

/**
 * Does `work` while no other process does it. A process that comes second says so once and waits; where the owner has
 * died, it takes over. Should two ever get in at once, after a machine was suspended for instance, nothing breaks: what
 * they make is put in place by a rename.
 *
 * Written here because the first thing that needs it is the installation of the packages.
 *
 * @template T
 * @param {string} lock a folder that is there while the lock is held; its parents are made if need be
 * @param {string} what for the line that tells people what is waited for
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(lock, what, work) {
  const token = randomUUID();
  const draft = `${lock}.${token}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'owner'), JSON.stringify({ pid: process.pid, host: hostname(), token }));
  await acquire(lock, what, draft);
  const heartbeat = setInterval(() => utimes(lock, new Date(), new Date(), () => undefined), HEARTBEAT_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (ownerOf(lock)?.token === token) renameSync(lock, draft);
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * A folder that is not empty is never replaced by a rename. So the lock appears whole, with its owner inside, or not at
 * all; and of several that find the same dead owner only the first moves that owner's lock away, since the others would
 * have to move theirs, or the next owner's, to where it now lies. That is why it stays there.
 *
 * @param {string} lock
 * @param {string} what
 * @param {string} draft
 */
async function acquire(lock, what, draft) {
  let told = false;
  while (!rename(draft, lock)) {
    const owner = ownerOf(lock);
    if (owner && isDead(lock, owner)) {
      rename(lock, `${lock}.${owner.token}.dead`);
      continue;
    }
    if (owner && !told) log(`Another run (process ${owner.pid}) is busy with ${what}; waiting for it.`);
    told ||= owner !== undefined;
    await sleep(RETRY_MS);
  }
}

/**
 * @param {string} lock
 * @returns {Owner | undefined} undefined when the lock is free just now
 */
function ownerOf(lock) {
  try {
    return JSON.parse(readFileSync(join(lock, 'owner'), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} lock
 * @param {Owner} owner
 */
function isDead(lock, { pid, host }) {
  if (host === hostname() && !isRunning(pid)) return true;
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > STALE_MS;
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * @param {string} from
 * @param {string} to
 * @returns {boolean} false when another process was faster
 */
function rename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
