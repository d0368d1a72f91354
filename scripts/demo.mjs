import { compilePrograms, ensureBuild } from './lib/build.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

process.env.TEMPORAL_CLI = await ensureTemporalCli();
await ensureBuild();
await compilePrograms('demo');
await import(new URL('../demo/dist/demo/main.js', import.meta.url).href);
