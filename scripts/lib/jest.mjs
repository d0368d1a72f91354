import { createRequire } from 'node:module';
import { ensureBuild } from './build.mjs';
import { runInForeground } from './foreground.mjs';
import { projectRoot } from './paths.mjs';
import { ensureTemporalCli } from './temporal-cli.mjs';

/**
 * Runs Jest on what is built, with a Temporal CLI. Its reporter `closing-line.mjs` counts the tests.
 *
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<number>} its exit code
 * @throws {Error} when it ended before it had counted
 */
export async function runJest(args, env = {}) {
  const TEMPORAL_CLI = await ensureTemporalCli();
  await ensureBuild();
  let counted = false;
  const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
  const code = await runInForeground(
    process.execPath,
    [jest, ...args],
    {
      cwd: projectRoot,
      env: { ...process.env, TEMPORAL_CLI, ...env },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
    () => void (counted = true),
  );
  if (!counted || code > 128) throw new Error(`Jest ended with exit code ${code} before it had counted the tests`);
  return code;
}
