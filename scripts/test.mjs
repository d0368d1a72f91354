import { ensureCheckoutPython } from './lib/checkout-python.mjs';
import { runJest, testFiles } from './lib/jest.mjs';
import { log } from './lib/log.mjs';

const args = process.argv.slice(2);
const files = await testFiles(args);
// Only this test runs the Python programs of docs/checkout.md. Without Python it is skipped.
if (files.some((file) => file.endsWith('checkout-page.test.ts'))) {
  await ensureCheckoutPython().then(
    (python) => void (process.env.TEST_PYTHON = python),
    (error) => log(`Skipping the Python programs of docs/checkout.md: ${error.message.trim().split('\n').at(-1)}`),
  );
}
process.exitCode = await runJest(args, files);
