import { availableParallelism } from 'node:os';
import { runJest } from './lib/jest.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

// Most tests wait for a server rather than compute, so two at a time pay even on one core; more than four crowd it.
const workers = Math.min(4, Math.max(2, availableParallelism()));
const env = { TEMPORAL_TEST_SERVER: await ensureTestServer() };
process.exitCode = await runJest([`--maxWorkers=${workers}`, ...process.argv.slice(2)], env);
