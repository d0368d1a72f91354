import { createRequire } from 'node:module';
import { ensureBuild } from './build.mjs';
import { runInForeground } from './foreground.mjs';
import { projectRoot } from './paths.mjs';
import { ensureTemporalCli } from './temporal-cli.mjs';

/**
 * Runs Jest on what is built, with a Temporal CLI, and returns its exit code. Its reporter `closing-line.mjs` counts the tests.
 *
 * @param {string[]} args
 * @param {Record<string, string>} more of the environment
 * @throws {Error} when it ended before it had counted
 */
export async function runJest(args, more) {
  const env = { ...process.env, TEMPORAL_CLI: await ensureTemporalCli(), ...more };
  await ensureBuild();
  let counted = false;
  const jest = [createRequire(import.meta.url).resolve('jest/bin/jest'), ...args];
  const options = { cwd: projectRoot, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] };
  const code = await runInForeground(process.execPath, jest, options, () => void (counted = true));
  if (!counted || code > 128) throw new Error(`Jest ended with exit code ${code} before it had counted the tests`);
  return code;
}
