import { constants } from 'node:os';
import spawn from 'nano-spawn';
import { killGroup, SIGNALS } from './foreground.mjs';
import { projectRoot } from './paths.mjs';

/**
 * Runs a program or a command of an installed package, without a shell or input. Returns its output; if its exit code
 * is not 0, throws an error with the output. A signal that ends this process first ends the program. With `detached`, the
 * program's own process group ends with it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, killSignal?: NodeJS.Signals, detached?: boolean,
 *   limitMs?: number, silenceMs?: number, onLine?: (line: string) => void, stdoutOnly?: boolean }} [options] `env` is
 *   added to this process's environment; the program is killed `limitMs` after its start, or if it prints nothing for
 *   `silenceMs`; `onLine` gets each line of stdout and stderr; with `stdoutOnly`, the result has no line of stderr,
 *   where Node may print a warning
 */
export async function run(command, args, { limitMs, silenceMs, onLine, stdoutOnly = false, ...options } = {}) {
  const stop = new AbortController();
  const allowedMs = limitMs ?? silenceMs ?? 2 ** 31 - 1;
  const timer = setTimeout(() => stop.abort(), allowedMs);
  /** @type {(signal: NodeJS.Signals) => void} */
  const leave = (signal) => {
    stop.abort();
    endGroup();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, leave);
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const result = [];
  /** @type {number | undefined} */
  let leader;
  const endGroup = () => void (options.detached && killGroup(leader, 'SIGKILL'));
  try {
    const usual = { cwd: projectRoot, preferLocal: true, killSignal: /** @type {const} */ ('SIGKILL') };
    const program = spawn(command, args, { ...usual, ...options, stdin: 'ignore', signal: stop.signal });
    // Not awaited: the loop below must be the first to see that the program could not be started.
    void program.nodeChildProcess.then(
      ({ pid }) => (leader = pid),
      () => undefined,
    );
    /** @type {(stream: AsyncIterable<string>, isResult: boolean) => Promise<void>} */
    const read = async (stream, isResult) => {
      for await (const line of stream) {
        lines.push(line);
        if (isResult) result.push(line);
        onLine?.(line);
        if (silenceMs) timer.refresh();
      }
    };
    await Promise.all([read(program.stdout, true), read(program.stderr, !stdoutOnly)]);
    return result.join('\n');
  } catch (error) {
    if (stop.signal.aborted) throw new Error(`no response within ${allowedMs / 1000} s`, { cause: error });
    const { code, message } = error.cause ?? error;
    const reason = code === 'ENOENT' ? `${command} is not installed` : message;
    throw new Error([reason, ...lines].join('\n'), { cause: error });
  } finally {
    clearTimeout(timer);
    endGroup();
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}
