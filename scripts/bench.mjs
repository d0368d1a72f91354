import { ensureBuild } from './lib/build.mjs';
import { run } from './lib/run.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

process.env.TEMPORAL_CLI = await ensureTemporalCli();
await ensureBuild();
await run('tsc', ['-p', 'bench']);
await import(new URL('../bench/dist/bench/main.js', import.meta.url).href);
