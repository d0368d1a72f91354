import { join } from 'node:path';
import { runInForeground } from './lib/foreground.mjs';
import { runMain } from './lib/main.mjs';
import { projectRoot } from './lib/places.mjs';
import { ensureBuild, ensureDependencies, ensureTemporalCli } from './lib/prepare.mjs';

await runMain(async () => {
  await ensureDependencies();
  const cli = await ensureTemporalCli();
  await ensureBuild();
  const demo = join(projectRoot, 'dist', 'demo', 'main.js');
  return runInForeground(process.execPath, [demo, ...process.argv.slice(2)], { env: { TEMPORAL_CLI: cli } });
});
