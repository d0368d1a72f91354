import { build } from './lib/build.mjs';
import { ensureDependencies } from './lib/dependencies.mjs';
import { runMain } from './lib/main.mjs';

await runMain(async () => {
  await ensureDependencies();
  await build();
});
