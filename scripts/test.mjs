import { runJest } from './lib/jest.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

process.exitCode = await runJest(process.argv.slice(2), { TEMPORAL_TEST_SERVER: await ensureTestServer() });
