import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** The signals that end a process, unless it handles them. */
export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a program in this one's place: on the same terminal, and with the signals passed on that would have ended this one.
 * Returns its exit code; 128 and the signal's number if a signal ended it. `onMessage` gets what it sends through `ipc`.
 * With `detached` it has a process group of its own, which gets the signals too, and no process of which outlives it.
 * `stdio` is any that `spawn` takes: its own type refuses the lists of plain strings that callers have.
 *
 * @type {(command: string, args: string[], options: { cwd?: string, stdio: any, shell?: boolean, detached?: boolean },
 *   onMessage?: (message: unknown) => void) => Promise<number>}
 */
export async function runInForeground(command, args, options, onMessage = () => undefined) {
  const child = spawn(command, args, options).on('message', onMessage);
  /** @type {(signal: NodeJS.Signals) => void} */
  const pass = (signal) => {
    if (options.detached) killGroup(child.pid, signal);
    // A terminal sends Ctrl-C to every process in the foreground, and to many programs a second one means "at once".
    else if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    const [code, signal] = /** @type {[number | null, NodeJS.Signals]} */ (await once(child, 'close'));
    return code ?? 128 + constants.signals[signal];
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass);
    if (options.detached) killGroup(child.pid, 'SIGKILL');
  }
}

/** @type {(leader: number | undefined, signal: NodeJS.Signals) => void} */
function killGroup(leader = NaN, signal) {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody is left in it.
  }
}
