import { type DevServer, startDevServer } from './dev-server';

declare global {
  // Jest hands the end of a set-up nothing but the global object.
  var sharedDevServer: DevServer | undefined;
}

/**
 * One Temporal dev server for all suites; each test has a task queue and references of its own. Without a CLI the suites
 * that need none still run, and the others say what is missing.
 */
export default async function globalSetup(): Promise<void> {
  if (!process.env.TEMPORAL_CLI) return;
  globalThis.sharedDevServer = await startDevServer({ http: true });
  process.env.TEST_TEMPORAL_ADDRESS = globalThis.sharedDevServer.address;
  process.env.TEST_TEMPORAL_HTTP_ADDRESS = globalThis.sharedDevServer.httpAddress;
}
