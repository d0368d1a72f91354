import { startDevServer } from './dev-server';

/**
 * One Temporal dev server for all suites; each test has a task queue and references of its own. Without a CLI the suites
 * that need none still run, and the others say what is missing.
 */
export default async function globalSetup(): Promise<() => Promise<void>> {
  if (!process.env.TEMPORAL_CLI) return async () => {};
  const server = await startDevServer();
  process.env.TEST_TEMPORAL_ADDRESS = server.address;
  return () => server.stop();
}
