import { constants } from 'node:os';
import spawn from 'nano-spawn';
import { SIGNALS } from './foreground.mjs';
import { projectRoot } from './paths.mjs';

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] the project's folder unless given
 * @property {Record<string, string>} [env] added to this process's own
 * @property {NodeJS.Signals} [killSignal]
 * @property {number} [limitMs] the program is killed after this long, and the run counts as failed
 * @property {number} [silenceMs] so it is when it prints nothing for this long
 * @property {(line: string) => void} [onLine] each line of its output, as it comes
 */

/**
 * Runs a program, one of the installed packages' too, to its end, without a shell and without input. A signal that ends
 * this process ends the program first.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} what it printed, the lines of stdout and stderr as they came
 * @throws {Error} when it can't be started, is killed, or exits with another code than 0; what it printed is in the message
 */
export async function run(command, args, { limitMs, silenceMs, onLine, ...options } = {}) {
  const stop = new AbortController();
  const allowedMs = limitMs ?? silenceMs ?? 2 ** 31 - 1;
  const timer = setTimeout(() => stop.abort(), allowedMs);
  const leave = (/** @type {NodeJS.Signals} */ signal) => {
    stop.abort();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, leave);
  const lines = [];
  try {
    const usual = { cwd: projectRoot, preferLocal: true, killSignal: /** @type {const} */ ('SIGKILL') };
    for await (const line of spawn(command, args, { ...usual, ...options, stdin: 'ignore', signal: stop.signal })) {
      lines.push(line);
      onLine?.(line);
      if (silenceMs) timer.refresh();
    }
    return lines.join('\n');
  } catch (error) {
    if (stop.signal.aborted) throw new Error(`no answer within ${allowedMs / 1000} s`, { cause: error });
    const { code, message } = error.cause ?? error;
    throw new Error([code === 'ENOENT' ? `${command} is not installed` : message, ...lines].join('\n'), {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}
