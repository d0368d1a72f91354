import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';

export interface TemporalServer {
  address: string;
  uiUrl: string;
  client: Client;
  stop(): Promise<void>;
}

/**
 * Starts a real Temporal dev server with its UI, on the usual ports if they are free.
 *
 * @throws Error when it does not serve within a minute; with what it last said.
 */
export async function startTemporalServer(cli: string): Promise<TemporalServer> {
  const port = await portFrom(7233);
  const uiPort = await portFrom(8233);
  const flags = ['--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort), '--log-level', 'error'];
  const child = spawn(cli, ['server', 'start-dev', ...flags], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.splice(0, said.length - 20, String(chunk)));
  const address = `127.0.0.1:${port}`;
  const connection = await connect(address, child, said);
  // A dev server forgets ended workflows after a day; a reconciliation looks back three.
  const keep = [
    'operator',
    'namespace',
    'update',
    '--namespace',
    'default',
    '--retention',
    '30d',
    '--address',
    address,
  ];
  await promisify(execFile)(cli, keep);
  return {
    address,
    uiUrl: `http://localhost:${uiPort}`,
    client: new Client({ connection }),
    stop: async () => {
      await connection.close();
      await stopped(child);
    },
  };
}

async function connect(address: string, child: ChildProcess, said: string[]): Promise<Connection> {
  for (let attempt = 1; ; attempt++) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      return connection;
    } catch {
      if (attempt >= 120 || child.exitCode !== null) {
        throw new Error(
          `the Temporal dev server does not serve at ${address}: ${said.join('').trim() || 'it said nothing'}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** Asks a child process to stop and waits until it has. */
export async function stopped(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

/** The first free port from `wanted` on. */
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
