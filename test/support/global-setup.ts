import { type PostgreSql, startPostgreSql, useForServers } from '../cluster/postgresql';
import { type DevServer, startDevServer } from './dev-server';

declare global {
  // Jest hands the end of a set-up nothing but the global object.
  var sharedDevServer: DevServer | undefined;
  var sharedPostgreSql: PostgreSql | undefined;
}

/**
 * One Temporal dev server for all suites; each test has a task queue and references of its own. Without a CLI the suites
 * that need none still run, and the others say what is missing. In `npm run test:cluster` it is the server of production, and so
 * are those that tests start for themselves.
 */
export default async function globalSetup(): Promise<void> {
  if (!process.env.TEMPORAL_CLI) return;
  if (process.env.TEST_CLUSTER === 'shared') await startSharedPostgreSql();
  if (process.env.TEST_CLUSTER === 'own') return;
  globalThis.sharedDevServer = await startDevServer({ http: true });
  process.env.TEST_TEMPORAL_ADDRESS = globalThis.sharedDevServer.address;
  process.env.TEST_TEMPORAL_HTTP_ADDRESS = globalThis.sharedDevServer.httpAddress;
}

/** Many servers of tests are connected to it at once: more connections than the default allows. */
async function startSharedPostgreSql(): Promise<void> {
  const postgresql = (globalThis.sharedPostgreSql = await startPostgreSql(['max_connections=2000']));
  useForServers(postgresql);
}
