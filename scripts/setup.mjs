import { ensureTemporalCli } from './lib/temporal-cli.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

await ensureTestServer();
process.stdout.write(`${await ensureTemporalCli()}\n`);
