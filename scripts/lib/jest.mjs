import { createRequire } from 'node:module';
import { compilePrograms, ensureBuild } from './build.mjs';
import { runInForeground } from './foreground.mjs';
import { projectRoot } from './paths.mjs';
import { ensureTemporalCli } from './temporal-cli.mjs';
import { ensureTestServer } from './test-server.mjs';

/**
 * Runs Jest with these arguments, on a fresh build and with both Temporal servers at hand.
 *
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code
 * @throws Error when it ended before it had counted its tests
 */
export async function runJest(args) {
  process.env.TEMPORAL_CLI = await ensureTemporalCli();
  process.env.TEMPORAL_TEST_SERVER = await ensureTestServer();
  await ensureBuild();
  await compilePrograms('sandbox', 'demo');
  // Its reporter, closing-line.mjs, says when it has counted the tests.
  let counted = false;
  const jest = [createRequire(import.meta.url).resolve('jest/bin/jest'), ...args];
  // In a group of its own, so that the servers which its tests start end with it.
  const options = { cwd: projectRoot, stdio: [0, 1, 2, 'ipc'], detached: process.platform !== 'win32' };
  const code = await runInForeground(process.execPath, jest, options, () => void (counted = true));
  if (!counted || code > 128) throw new Error(`Jest ended with exit code ${code} before it had counted the tests`);
  return code;
}
