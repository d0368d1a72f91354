import { runMain } from './lib/main.mjs';
import { ensureDependencies, ensureTemporalCli, ensureTestServer } from './lib/prepare.mjs';

await runMain(async () => {
  await ensureDependencies();
  await ensureTestServer();
  const cli = await ensureTemporalCli();
  process.stdout.write(`${cli}\n`);
});
