import { compilePrograms, ensureBuild } from './lib/build.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

// A proxy would be asked for the demo's own servers.
process.env.no_proxy = [process.env.no_proxy, '127.0.0.1', 'localhost'].filter(Boolean).join();
process.env.TEMPORAL_CLI = await ensureTemporalCli();
await ensureBuild();
await compilePrograms('demo');
await import(new URL('../demo/dist/demo/main.js', import.meta.url).href);
