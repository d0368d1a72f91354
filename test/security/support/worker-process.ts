import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../support/dev-server';
import type { Evidence } from './search';

const DIST = join(__dirname, '../../../dist');

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export interface WorkerProcess {
  pid: number;
  /** All that it has written so far, both streams. */
  said(): string;
  /** Resolves when the text stands in what it has written. */
  untilSaid(text: string): Promise<void>;
  metrics(): Promise<string>;
  /** @returns the exit code; null for a signal. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  exited: Promise<number | null>;
}

/** A real worker, `node dist/worker.js`, with nothing in its environment but what is given. */
export async function startWorkerProcess(
  env: Record<string, string>,
  options: { nodeArgs?: string[]; umask?: number } = {},
): Promise<WorkerProcess> {
  const metrics = `127.0.0.1:${await freePort()}`;
  const umask = options.umask === undefined ? undefined : process.umask(options.umask);
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), join(DIST, 'worker.js')], {
    env: { PATH: process.env.PATH, METRICS_ADDRESS: metrics, HEALTH_ADDRESS: '127.0.0.1:0', ...env },
  });
  if (umask !== undefined) process.umask(umask);
  alive.add(child);
  const output = listen(child);
  const exited = once(child, 'exit').then(([code]) => {
    alive.delete(child);
    return code as number | null;
  });
  const ready = output.untilSaid('worker ready');
  const early = exited.then((code) => Promise.reject(new Error(`the worker ended with ${code}: ${output.said()}`)));
  await Promise.race([ready, early]);
  early.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    ...output,
    exited,
    metrics: async () => (await fetch(`http://${metrics}/metrics`)).text(),
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

/** Runs a program of ours to its end. @returns all that it printed, in a place that names its exit code */
export async function runToEnd(
  program: 'worker' | 'starter',
  env: Record<string, string>,
  ...args: string[]
): Promise<Evidence> {
  const child = spawn(process.execPath, [join(DIST, `${program}.js`), ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  const output = listen(child);
  const [code] = await once(child, 'close');
  return { place: `${program} ${args.join(' ')}: exit code ${code}`, text: output.said() };
}

function listen(child: ChildProcess) {
  const waiting: { text: string; resolve: () => void }[] = [];
  let said = '';
  const hear = (chunk: Buffer) => {
    said += String(chunk);
    for (const { text, resolve } of waiting) if (said.includes(text)) resolve();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  return {
    said: () => said,
    untilSaid: (text: string) =>
      new Promise<void>((resolve) => (said.includes(text) ? resolve() : void waiting.push({ text, resolve }))),
  };
}
