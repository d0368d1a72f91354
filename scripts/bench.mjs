import { compilePrograms, ensureBuild } from './lib/build.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

process.env.TEMPORAL_CLI = await ensureTemporalCli();
await ensureBuild();
await compilePrograms('sandbox', 'bench');
await import(new URL('../bench/dist/bench/main.js', import.meta.url).href);
