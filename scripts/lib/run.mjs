import { spawn } from 'node:child_process';

const TAIL_CHARS = 100_000;

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {Record<string, string | undefined>} [env] instead of this process's own
 * @property {number} [limitMs] the child is killed after this long, and the run counts as failed
 * @property {(line: string) => void} [onLine] each line of its output, as it comes
 * @property {AbortSignal} [signal] kills the child
 */

/**
 * Runs a program to its end without a shell, so that no path needs quoting.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} the end of what it printed, stdout and stderr as they came
 * @throws {Error} when it can't be started, is killed, or exits with another code than 0; the message ends with the last
 *   lines that it printed
 */
export function run(command, args, options = {}) {
  const { cwd, env, limitMs, onLine, signal } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
    const name = [command, ...args.slice(0, 1)].join(' ');
    // Not spawn's own time limit: that one keeps this process alive for its whole length when the program can't be started.
    const timer = limitMs
      ? setTimeout(() => fail(`${name} did not end within ${limitMs / 1000} s`), limitMs)
      : undefined;
    const fail = (/** @type {string} */ message) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(message));
    };
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        tail = (tail + text).slice(-TAIL_CHARS);
        const line = text.trimEnd().split('\n').at(-1);
        if (line) onLine?.(line);
      });
    }
    child.once('error', (error) => fail(isMissing(error) ? `${command} is not installed` : error.message));
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      if (code === 0) return resolve(tail);
      const how = killedBy ? `was stopped by ${killedBy}` : `exited with code ${code}`;
      fail([`${name} ${how}`, tail.trim()].filter(Boolean).join(':\n'));
    });
  });
}

/** @param {Error} error */
function isMissing(error) {
  return 'code' in error && error.code === 'ENOENT';
}
