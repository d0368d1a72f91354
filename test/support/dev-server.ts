import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Connection } from '@temporalio/client';
import { closeAtEnd } from './clean-up';
import { waitUntil } from './wait-until';

export interface DevServer {
  address: string;
  /** Of its HTTP API, where that was asked for. */
  httpAddress?: string;
  /** Ends it and waits for that; at the end of the test file it is killed. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a real Temporal dev server without a UI, with the search attributes of the project. A port that somebody else took
 * in the meantime is given up for another, unless it was asked for.
 *
 * @param options `dbFile` keeps its data, so that a server can be killed and started again on the same `port`.
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  for (let tries = options.port === undefined ? 3 : 1; tries > 0; tries--) {
    const server = await tryDevServer(options);
    if (server) return server;
  }
  throw new Error('the Temporal server ended before it answered: is its port taken?');
}

interface DevServerOptions {
  port?: number;
  dbFile?: string;
  setUp?: boolean;
  /** Its dynamic configuration, where it is not the default: `KEY=VALUE`. */
  config?: readonly string[];
  /** Its HTTP API is at a port that is known. */
  http?: boolean;
}

/** @returns undefined when it ended before it answered. */
async function tryDevServer(options: DevServerOptions): Promise<DevServer | undefined> {
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI is not set: run the suite with npm test, or set it to a Temporal CLI');
  const port = options.port ?? (await freePort());
  const httpPort = options.http ? await freePort() : undefined;
  const attributes = ['ReferenceId', 'PartnerOrderId', 'PurchaseState'];
  const child = spawn(
    cli,
    [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(httpPort ? ['--http-port', String(httpPort)] : []),
      ...(options.dbFile ? ['--db-filename', options.dbFile] : []),
      ...(options.config ?? []).flatMap((value) => ['--dynamic-config-value', value]),
      ...(options.setUp === false ? [] : attributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`])),
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  closeAtEnd(() => stop('SIGKILL'));
  const address = `127.0.0.1:${port}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const isDecided = async () => hasEnded() || (await isServing(address));
  await waitUntil(`a Temporal server answers at ${address}`, isDecided, { everyMs: 200 });
  if (hasEnded()) return undefined;
  return { address, httpAddress: httpPort ? `127.0.0.1:${httpPort}` : undefined, stop };
}

async function isServing(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 }).catch(() => undefined);
  if (!connection) return false;
  try {
    await connection.workflowService.describeNamespace({ namespace: 'default' });
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
