import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from './places.mjs';
import { say } from './progress.mjs';

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @typedef {object} ForegroundOptions
 * @property {Record<string, string>} [env] added to this process's own
 * @property {string} [endsSoonAfter] a file that the program writes last; if it runs on for `mayLingerMs` after that, it
 *   is killed
 * @property {number} [mayLingerMs]
 */

/**
 * Runs a program in this one's place: same terminal, signals passed on, its exit code returned.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {ForegroundOptions} [options]
 * @returns {Promise<number>} its exit code; 128 and the signal's number if a signal ended it
 */
export function runInForeground(command, args, { env = {}, endsSoonAfter, mayLingerMs = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, ...env } });
    const stopForwarding = forwardSignals(child);
    const ended = new AbortController();
    const leave = () => {
      stopForwarding();
      ended.abort();
    };
    child.once('error', (error) => {
      leave();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      leave();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
    if (endsSoonAfter) void endAfter(child, endsSoonAfter, mayLingerMs, ended.signal).catch(() => undefined);
  });
}

/** @param {import('node:child_process').ChildProcess} child */
function forwardSignals(child) {
  const handlers = FORWARDED.map((signal) => {
    const handle = () => {
      if (!reachesChildAnyway(signal)) child.kill(signal);
    };
    process.on(signal, handle);
    return () => process.off(signal, handle);
  });
  return () => handlers.forEach((off) => off());
}

/**
 * A terminal sends Ctrl-C to every process in the foreground. Passing it on as well would make two of one, and the second
 * Ctrl-C means "at once" to many programs.
 *
 * @param {NodeJS.Signals} signal
 */
function reachesChildAnyway(signal) {
  return signal === 'SIGINT' && process.stdin.isTTY === true;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} file
 * @param {number} mayLingerMs
 * @param {AbortSignal} signal
 */
async function endAfter(child, file, mayLingerMs, signal) {
  while (!existsSync(file)) await sleep(500, undefined, { signal });
  await sleep(mayLingerMs, undefined, { signal });
  say(`It wrote its report and did not end within ${mayLingerMs / 1000} s, so it was killed: something was left open.`);
  child.kill('SIGKILL');
}
