import { runJest } from './lib/jest.mjs';

process.exitCode = await runJest(process.argv.slice(2));
