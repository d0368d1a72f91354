import { createRequire } from 'node:module';
import { ensureBuild } from './lib/build.mjs';
import { runInForeground } from './lib/foreground.mjs';
import { projectRoot } from './lib/paths.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

process.env.TEMPORAL_CLI = await ensureTemporalCli();
process.env.TEMPORAL_TEST_SERVER = await ensureTestServer();
await ensureBuild();
// Its reporter, lib/closing-line.mjs, says when it has counted the tests.
let counted = false;
const jest = [createRequire(import.meta.url).resolve('jest/bin/jest'), ...process.argv.slice(2)];
// In a group of its own, so that the servers which its tests start end with it.
const options = { cwd: projectRoot, stdio: [0, 1, 2, 'ipc'], detached: process.platform !== 'win32' };
const code = await runInForeground(process.execPath, jest, options, () => void (counted = true));
if (!counted || code > 128) throw new Error(`Jest ended with exit code ${code} before it had counted the tests`);
process.exitCode = code;
