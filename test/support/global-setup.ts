import { type PostgreSql, startPostgreSql, useForServers } from '../cluster/postgresql';
import { type DevServer, startDevServer } from './dev-server';

declare global {
  // Jest shares only the global object between the global set-up and the global teardown.
  var sharedDevServer: DevServer | undefined;
  var sharedPostgreSql: PostgreSql | undefined;
}

/**
 * Starts one Temporal dev server for all suites. Each test uses its own task queue and references. Without a CLI, only
 * suites that need no server run; the others report what is missing. `npm run test:cluster` uses the production server
 * everywhere.
 */
export default async function globalSetup(): Promise<void> {
  if (!process.env.TEMPORAL_CLI) return;
  if (process.env.TEST_CLUSTER === 'shared') await startSharedPostgreSql();
  if (process.env.TEST_CLUSTER === 'own') return;
  globalThis.sharedDevServer = await startDevServer({ http: true });
  process.env.TEST_TEMPORAL_ADDRESS = globalThis.sharedDevServer.address;
  process.env.TEST_TEMPORAL_HTTP_ADDRESS = globalThis.sharedDevServer.httpAddress;
}

/** Allows more connections than by default, because many test servers use it at once. */
async function startSharedPostgreSql(): Promise<void> {
  const postgresql = (globalThis.sharedPostgreSql = await startPostgreSql(['max_connections=2000']));
  useForServers(postgresql);
}
