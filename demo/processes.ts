import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';

export interface TemporalServer {
  address: string;
  uiUrl: string;
  client: Client;
  stop(): Promise<void>;
}

/**
 * Starts a real Temporal dev server with its UI, on the default ports if they are free.
 *
 * @throws Error with the last lines of its log if it does not serve within a minute.
 */
export async function startTemporalServer(cli: string): Promise<TemporalServer> {
  const address = `127.0.0.1:${await portFrom(7233)}`;
  const uiPort = await portFrom(8233);
  const [ip, port] = address.split(':') as [string, string];
  const flags = ['--ip', ip, '--port', port, '--ui-port', String(uiPort), '--log-level', 'error'];
  const child = spawn(cli, ['server', 'start-dev', ...flags], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const log = tailOf(child);
  const connection = await connect(address, child, log).catch(async (error: unknown) => {
    await stop(child, 'SIGTERM');
    throw error;
  });
  return {
    address,
    uiUrl: `http://localhost:${uiPort}`,
    client: new Client({ connection }),
    async stop() {
      await connection.close();
      await stop(child, 'SIGTERM');
    },
  };
}

/** The type is Long, but a number works. */
const workflowExecutionRetentionTtl = { seconds: (30 * 86_400) as never };

async function connect(address: string, child: ChildProcess, log: () => string): Promise<Connection> {
  for (let attempt = 1; ; attempt++) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      // A dev server deletes closed workflows after a day, but a reconciliation reads those of the last three days.
      await connection.workflowService.updateNamespace({
        namespace: 'default',
        config: { workflowExecutionRetentionTtl },
      });
      return connection;
    } catch {
      if (attempt >= 120 || child.exitCode !== null) {
        throw new Error(`the Temporal dev server does not respond at ${address}: ${log() || 'its log is empty'}`);
      }
      await setTimeout(500);
    }
  }
}

export interface WorkerProcess {
  pid: number;
  stop(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a worker process, `node dist/worker.js`, and waits until it logs that it is ready.
 *
 * @param logFile receives the worker's whole log.
 * @throws Error with the last lines of the log if it ends before it is ready.
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, logFile: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [join(__dirname, '..', '..', '..', 'dist', 'worker.js')], {
    // The demo must not read the `.env` of the project's folder.
    cwd: dirname(logFile),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const file = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const log = tailOf(child);
  while (!log().includes('worker ready')) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`the worker ended with ${ended}:\n${log()}`);
    await setTimeout(50);
  }
  return { pid: child.pid ?? 0, stop: (signal) => stop(child, signal) };
}

/** Returns the end of what a process has written so far. */
function tailOf({ stdout, stderr }: ChildProcess): () => string {
  let tail = '';
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk) => (tail = (tail + String(chunk)).slice(-20_000)));
  return () => tail.trim();
}

/** Sends a signal to a process and waits until it has ended. */
async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** Finds the first free port, starting at `wanted`. */
export async function portFrom(wanted: number): Promise<number> {
  for (let port = wanted; ; port++) {
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
