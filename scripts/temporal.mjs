import { runInForeground } from './lib/foreground.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';

/** `npm run temporal -- ARGUMENTS`: runs Temporal's CLI, and first downloads or builds it if it is missing. */
process.exitCode = await runInForeground(await ensureTemporalCli(), process.argv.slice(2), { stdio: 'inherit' });
