import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../support/dev-server';
import type { Evidence } from './search';

const DIST = join(__dirname, '../../../dist');

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
  options: { args?: string[]; cwd?: string } = {},
): Promise<WorkerProcess> {
  const metrics = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [...(options.args ?? []), join(DIST, 'worker.js')], {
    env: { PATH: process.env.PATH, METRICS_ADDRESS: metrics, HEALTH_ADDRESS: '127.0.0.1:0', ...env },
    cwd: options.cwd,
  });
  const output = listen(child);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
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

/** Runs the starter once. @returns all that it printed. */
export async function runStarter(env: Record<string, string>, ...args: string[]): Promise<Evidence> {
  const child = spawn(process.execPath, [join(DIST, 'starter.js'), ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  const output = listen(child);
  const [code] = await once(child, 'close');
  return { place: `starter ${args.join(' ')} (${code})`, text: output.said() };
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
