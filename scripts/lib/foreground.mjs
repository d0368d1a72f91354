import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { projectRoot } from './places.mjs';

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in this one's place: same terminal, signals passed on, its exit code returned.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env] added to this process's own
 * @returns {Promise<number>} its exit code; 128 and the signal's number if a signal ended it
 */
export function runInForeground(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, ...env } });
    const handlers = FORWARDED.map((signal) => {
      const handle = () => void (reachesChildAnyway(signal) || child.kill(signal));
      process.on(signal, handle);
      return () => process.off(signal, handle);
    });
    const leave = () => handlers.forEach((off) => off());
    child.once('error', (error) => (leave(), reject(error)));
    child.once('exit', (code, signal) => {
      leave();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
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
