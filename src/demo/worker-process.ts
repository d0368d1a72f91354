import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { stopped } from './temporal-server';

export interface WorkerProcess {
  pid: number;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a real worker process, `node dist/worker.js`, and waits until it says that it is ready.
 *
 * @param logFile gets what it logs.
 * @throws Error with the last lines of the log when it ends before it is ready.
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, logFile: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [join(__dirname, '..', 'worker.js')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  await ready(child);
  return { pid: child.pid ?? 0, kill: (signal) => stopped(child, signal) };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const listen = (chunk: Buffer) => {
      said = (said + String(chunk)).slice(-4_000);
      if (said.includes('worker ready')) resolve();
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code}:\n${said}`)));
  });
}
