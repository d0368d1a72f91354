import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../src/contracts/search-attributes';
import { freePort, type RunningProgram, startProgram } from './processes';

/** A Temporal dev server that keeps its data in a SQLite file. */
export interface TemporalProcess {
  address: string;
  pid: number;
  client: Client;
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 60_000;

/** @param folder for the database file. @throws Error if the server does not respond within a minute */
export async function startTemporal(cli: string, folder: string): Promise<TemporalProcess> {
  const port = String(await freePort());
  const address = `127.0.0.1:${port}`;
  const attributes = SEARCH_ATTRIBUTES.flatMap(({ name }) => ['--search-attribute', `${name}=Keyword`]);
  const flags = ['--headless', '--ip', '127.0.0.1', '--port', port, '--log-level', 'error'];
  const file = ['--db-filename', join(folder, 'temporal.db')];
  const server = startProgram(cli, ['server', 'start-dev', ...flags, ...file, ...attributes], {});
  const connection = await connect(address, server);
  // A dev server keeps ended workflows for one day; a reconciliation reads three.
  const retention = ['--namespace', 'default', '--retention', '30d', '--address', address];
  await promisify(execFile)(cli, ['operator', 'namespace', 'update', ...retention]);
  return {
    address,
    pid: server.pid,
    client: new Client({ connection }),
    async stop() {
      await connection.close();
      await server.stop('SIGKILL');
    },
  };
}

async function connect(address: string, server: RunningProgram): Promise<Connection> {
  const end = Date.now() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      return connection;
    } catch (error) {
      if (server.hasEnded() || Date.now() > end) {
        throw new Error(`the Temporal server does not respond at ${address}:\n${server.output()}`, { cause: error });
      }
      await setTimeout(200);
    }
  }
}
