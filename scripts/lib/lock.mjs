import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './progress.mjs';

const HEARTBEAT_MS = 5_000;
const SILENT_TOO_LONG_MS = 60_000;
const LOOK_AGAIN_MS = 200;

/** @typedef {{ pid: number, host: string, token: string }} Owner */

/**
 * Does `work` while no other process does it. A process that comes second says so once and waits; one whose owner has
 * died takes over. Should two ever get in at once, after a machine was suspended for instance, nothing breaks: what they
 * make is put in place by a rename.
 *
 * @template T
 * @param {string} file the lock; its folder is made if need be
 * @param {string} what for the line that tells people what is waited for
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, what, work) {
  const token = randomUUID();
  mkdirSync(dirname(file), { recursive: true });
  await acquire(file, what, token);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (read(file)?.token === token) rmSync(file, { force: true });
  }
}

/**
 * @param {string} file
 * @param {string} what
 * @param {string} token
 */
async function acquire(file, what, token) {
  let told = false;
  while (!create(file, token)) {
    const owner = read(file);
    if (owner && isStale(file, owner)) {
      breakLock(file, owner);
      continue;
    }
    if (owner && !told) say(`Another run (process ${owner.pid}) is busy with ${what}; waiting for it.`);
    told ||= owner !== undefined;
    await sleep(LOOK_AGAIN_MS);
  }
}

/**
 * The lock appears whole, with its owner inside, or not at all: nobody ever reads half a lock.
 *
 * @param {string} file
 * @param {string} token
 */
function create(file, token) {
  const draft = `${file}.${token}`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, host: hostname(), token }));
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string} file
 * @returns {Owner | undefined} undefined when the lock is free just now
 */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * @param {string} file
 * @param {Owner} owner
 */
function isStale(file, owner) {
  if (owner.host === hostname() && !isAlive(owner.pid)) return true;
  try {
    return Date.now() - statSync(file).mtimeMs > SILENT_TOO_LONG_MS;
  } catch {
    return false;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Two that find the same dead owner must not both remove the lock: the slower one would remove the lock of the faster.
 * So whoever first makes the tombstone with the dead owner's name removes it, and the tombstone stays.
 *
 * @param {string} file
 * @param {Owner} owner
 */
function breakLock(file, owner) {
  try {
    closeSync(openSync(`${file}.${owner.token}.dead`, 'wx'));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  rmSync(file, { force: true });
}

/** @param {string} file */
function touch(file) {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // The lock was broken while this machine slept. The work goes on: its result is put in place by a rename.
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
