import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Connection } from '@temporalio/client';
import { closeAtEnd } from './clean-up';
import { waitUntil } from './wait-until';

export interface DevServer {
  address: string;
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
 * Starts a real Temporal dev server without a UI, with the search attributes of the project.
 *
 * @param options `dbFile` keeps its data, so that a server can be killed and started again on the same `port`.
 */
export async function startDevServer(
  options: { port?: number; dbFile?: string; setUp?: boolean } = {},
): Promise<DevServer> {
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI is not set: run the suite with npm test, or set it to a Temporal CLI');
  const port = options.port ?? (await freePort());
  const attributes = ['ReferenceId', 'PartnerOrderId', 'PurchaseState'];
  const child = spawn(
    cli,
    [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(options.dbFile ? ['--db-filename', options.dbFile] : []),
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
  await waitUntil(`a Temporal server answers at ${address}`, () => isServing(address), { everyMs: 200 });
  return { address, stop };
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
