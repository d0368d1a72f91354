import { constants } from 'node:os';
import spawn from 'nano-spawn';
import { SIGNALS } from './foreground.mjs';
import { messageOf } from './log.mjs';
import { projectRoot } from './paths.mjs';

const SHOWN_LINES = 500;

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] the project's folder unless given
 * @property {Record<string, string>} [env] added to this process's own
 * @property {number} [limitMs] the program is killed after this long, and the run counts as failed
 * @property {NodeJS.Signals} [killSignal] SIGTERM unless given
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
 * @throws {Error} when it can't be started, is killed, or exits with another code than 0; the message ends with the last
 *   lines that it printed
 */
export async function run(command, args, { limitMs = 0, onLine, ...options } = {}) {
  const stop = new AbortController();
  const limit = limitMs && setTimeout(() => stop.abort(), limitMs);
  const leave = (/** @type {NodeJS.Signals} */ signal) => {
    stop.abort();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, leave);
  const lines = [];
  try {
    const settings = { cwd: projectRoot, preferLocal: true, stdin: 'ignore', signal: stop.signal };
    for await (const line of spawn(command, args, { ...settings, ...options })) {
      lines.push(line);
      onLine?.(line);
    }
    return lines.join('\n');
  } catch (error) {
    const reason = stop.signal.aborted ? `${command} did not end within ${limitMs / 1000} s` : explain(command, error);
    throw new Error([reason, ...lines.slice(-SHOWN_LINES)].join('\n'), { cause: error });
  } finally {
    clearTimeout(limit);
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}

/**
 * @param {string} command
 * @param {unknown} error
 */
function explain(command, error) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return `${command} is not installed`;
  return messageOf(cause);
}
