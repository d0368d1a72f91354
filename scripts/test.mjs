import { ensureCheckoutPython } from './lib/checkout-python.mjs';
import { runJest } from './lib/jest.mjs';
import { log } from './lib/log.mjs';

// Python is one of the languages of docs/checkout.md, and no requirement: without it its test is skipped.
await ensureCheckoutPython().then(
  (python) => void (process.env.TEST_PYTHON = python),
  (error) => log(`The Python programs of docs/checkout.md are not run: ${error.message.trim().split('\n').at(-1)}`),
);
process.exitCode = await runJest(process.argv.slice(2));
