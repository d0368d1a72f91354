import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Connection } from '@temporalio/client';

export interface DevServer {
  address: string;
  process: ChildProcess;
  stop(): Promise<void>;
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
  const address = `127.0.0.1:${port}`;
  await untilServing(address);
  return {
    address,
    process: child,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

async function untilServing(address: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      await connection.close();
      return;
    } catch (error) {
      if (attempt >= 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
