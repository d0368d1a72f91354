import { runInForeground } from './lib/foreground.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

/** `npm run temporal -- ARGUMENTS`: runs Temporal's CLI, after downloading or building it if it is missing. */
process.exitCode = await runInForeground(await ensureTemporalCli(), process.argv.slice(2), { stdio: 'inherit' });
