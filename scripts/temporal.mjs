import { runInForeground } from './lib/foreground.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';
import { loadTemporalSettings } from './lib/temporal-settings.mjs';

/**
 * `npm run temporal -- ARGUMENTS`: runs Temporal's CLI on the server that `.env` names, and first downloads or builds the
 * CLI if it is missing.
 */
loadTemporalSettings();
process.exitCode = await runInForeground(await ensureTemporalCli(), process.argv.slice(2), { stdio: 'inherit' });
