import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** The signals that end a process unless it handles them. */
export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a program in place of this one, on the same terminal, and passes signals on. Returns its exit code, or 128 plus
 * the signal number. `onMessage` receives its `ipc` messages. With `detached`, signals go to its whole process group,
 * and the group ends with the program.
 *
 * @type {(command: string, args: string[], options: import('node:child_process').SpawnOptions,
 *   onMessage?: (message: unknown) => void) => Promise<number>}
 */
export async function runInForeground(command, args, options, onMessage = () => undefined) {
  const child = spawn(command, args, options).on('message', onMessage);
  /** @type {(signal: NodeJS.Signals) => void} */
  const pass = (signal) => {
    if (options.detached) killGroup(child.pid, signal);
    // The terminal already sends Ctrl-C to every foreground process, and many programs treat a second one as "at once".
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
export function killGroup(leader = NaN, signal) {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group has already ended.
  }
}
