import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { run } from './run.mjs';

/** The PyPI packages that the Python programs of docs/checkout.md import, in the versions that were tested. */
const TEMPORALIO = '1.35.0';
const PACKAGES = [`temporalio==${TEMPORALIO}`, 'standardwebhooks==1.1.0'];

/**
 * Provides a Python with the packages of docs/checkout.md: a virtual environment in the cache, created once.
 *
 * @returns its path
 * @throws Error if there is no Python 3.10 with venv and pip, or if PyPI can't be reached
 */
export async function ensureCheckoutPython() {
  const dir = join(cacheDir(), `checkout-python-${TEMPORALIO}-${process.platform}-${process.arch}`);
  const python = pythonOf(dir);
  if (await isReady(python)) return python;
  await withLock('checkout-python', 'the Python packages of docs/checkout.md', async () => {
    if (await isReady(python)) return;
    await step(`Python with ${PACKAGES.join(' and ')}`, () => fill(dir, install));
  });
  return python;
}

/** @type {(dir: string) => Promise<void>} */
async function install(dir) {
  await run(process.platform === 'win32' ? 'python' : 'python3', ['-m', 'venv', dir], { limitMs: 60_000 });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  await run(pythonOf(dir), [...pip, ...PACKAGES], { limitMs: 120_000 });
}

/** @type {(dir: string) => string} */
function pythonOf(dir) {
  return join(dir, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
}

/** @type {(python: string) => Promise<boolean>} also false if the Python that created the environment has been removed */
async function isReady(python) {
  if (!existsSync(python)) return false;
  const imports = ['-c', 'import temporalio.client, standardwebhooks'];
  return run(python, imports, { limitMs: 30_000 }).then(
    () => true,
    () => false,
  );
}
