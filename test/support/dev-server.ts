import { type ChildProcess, spawn } from 'node:child_process';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes';
import type { PostgreSqlAccess } from '../cluster/postgresql';
import { type ServerOptions, spawnTemporalServer } from '../cluster/temporal-server';
import { closeAtEnd } from './clean-up';
import { freePort } from './free-port';
import { waitUntil } from './wait-until';

export type DevServer = Awaited<ReturnType<typeof startDevServer>>;

/**
 * Starts a real Temporal dev server without a UI, with the search attributes of the project. If its port is taken
 * meanwhile, it tries another one, unless `port` is given.
 *
 * @param options `dbFile` keeps its data, so that a server can be killed and restarted on the same `port`.
 */
export async function startDevServer(options: DevServerOptions = {}) {
  for (let tries = options.port === undefined ? 3 : 1; tries > 0; tries--) {
    const server = await tryDevServer(options);
    if (server) return server;
  }
  throw new Error('the Temporal server ended before it responded: is its port taken?');
}

interface DevServerOptions extends Pick<ServerOptions, 'setUp' | 'config'> {
  port?: number;
  dbFile?: string;
  /** Serves its HTTP API on a known port. */
  http?: boolean;
}

/** @returns undefined if it ended before it responded. */
async function tryDevServer(options: DevServerOptions) {
  const port = options.port ?? (await freePort());
  const httpPort = options.http ? await freePort() : undefined;
  const child = await spawnServer({ ...options, port, httpPort });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  /** Stops it and waits for its end. It is killed at the end of the test file. */
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  closeAtEnd(() => stop('SIGKILL'));
  const address = `127.0.0.1:${port}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const isDecided = async () => hasEnded() || (await isServing(address));
  await waitUntil(`a Temporal server responds at ${address}`, isDecided, { everyMs: 200 });
  if (hasEnded()) return undefined;
  return { address, httpAddress: httpPort ? `127.0.0.1:${httpPort}` : undefined, stop };
}

/** A dev server, or under `npm run test:cluster` the production server with the PostgreSQL of TEST_POSTGRESQL. */
async function spawnServer(options: ServerOptions & DevServerOptions): Promise<ChildProcess> {
  const { port, httpPort, dbFile, setUp, config = [] } = options;
  const { TEMPORAL_CLI: cli, TEST_POSTGRESQL: postgresql } = process.env;
  if (postgresql) return spawnTemporalServer(JSON.parse(postgresql) as PostgreSqlAccess, { ...options, name: dbFile });
  if (!cli) throw new Error('TEMPORAL_CLI is not set: run the suite with npm test, or set it to a Temporal CLI');
  return spawn(
    cli,
    [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(httpPort ? ['--http-port', String(httpPort)] : []),
      ...(dbFile ? ['--db-filename', dbFile] : []),
      ...config.flatMap((value) => ['--dynamic-config-value', value]),
      ...(setUp === false ? [] : SEARCH_ATTRIBUTES).flatMap(({ name }) => ['--search-attribute', `${name}=Keyword`]),
    ],
    { stdio: 'ignore' },
  );
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
