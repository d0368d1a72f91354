import { parseArgs } from 'node:util';
import { runInForeground } from './lib/foreground.mjs';
import { runMain } from './lib/main.mjs';
import { ensureBuild, ensureDependencies, ensureTemporalCli } from './lib/prepare.mjs';
import { toolPath } from './lib/tools.mjs';

/**
 * Runs the exhaustive fault matrix. `--seed N` draws the 1,000 purchases of an earlier run again, `--only TEXT` chooses
 * tests by their titles.
 */
await runMain(async () => {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, only: { type: 'string' } } });
  const { seed, only } = values;
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) throw new Error('--seed: expected a number of up to 9 digits');

  await ensureDependencies();
  const cli = await ensureTemporalCli();
  await ensureBuild();
  const jest = [toolPath('jest'), '--runInBand', '--testMatch', '<rootDir>/test/faults/**/*.faults.ts'];
  return runInForeground(process.execPath, only === undefined ? jest : [...jest, '-t', only], {
    env: { TEMPORAL_CLI: cli, ...(seed !== undefined && { FAULTS_SEED: seed }) },
  });
});
