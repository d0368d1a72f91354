import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** A child process. It is killed when this process ends. */
export interface RunningProgram {
  pid: number;
  /**
   * Waits until it writes this text.
   *
   * @returns ms since its start
   * @throws Error with its last lines if it ends first
   */
  untilWritten(text: string): Promise<number>;
  /** Its last lines. */
  output(): string;
  hasEnded(): boolean;
  /** Sends the signal and waits for the process to end. Kills it after ten seconds. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @param env all its variables, except for PATH and HOME. */
export function startProgram(command: string, args: readonly string[], env: Record<string, string>): RunningProgram {
  const startedAt = performance.now();
  const { PATH, HOME } = process.env;
  const child = spawn(command, args, { cwd: tmpdir(), env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  }
  const ended = once(child, 'close').then(() => running.delete(child));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasEnded,
    async untilWritten(text) {
      while (!output.includes(text)) {
        if (hasEnded()) throw new Error(`${command} ${args.join(' ')} ended:\n${output}`);
        await setTimeout(5);
      }
      return performance.now() - startedAt;
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await Promise.race([ended, setTimeout(10_000, undefined, { ref: false })]);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
