import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { run } from './run.mjs';

/** What the Python programs of docs/checkout.md import, from PyPI, in the versions with which they were tried. */
const CHECKOUT = { temporalio: '1.35.0', standardwebhooks: '1.1.0' };

const PODMAN_COMPOSE = { 'podman-compose': '1.6.0' };

/**
 * A Python that has the packages of docs/checkout.md.
 *
 * @returns its path @throws Error where there is no Python 3.10 with venv and pip, or no PyPI
 */
export function ensureCheckoutPython() {
  return ensurePython('checkout-python', CHECKOUT, 'import temporalio.client, standardwebhooks');
}

/** A Python whose module `podman_compose` is Podman's compose. @returns its path @throws as above */
export function ensurePodmanCompose() {
  return ensurePython('podman-compose', PODMAN_COMPOSE, 'import podman_compose');
}

/** @type {(id: string, packages: Record<string, string>, imports: string) => Promise<string>} in the cache, made once */
async function ensurePython(id, packages, imports) {
  const [version] = Object.values(packages);
  const dir = join(cacheDir(), `${id}-${version}-${process.platform}-${process.arch}`);
  const python = pythonOf(dir);
  if (await isReady(python, imports)) return python;
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  await withLock(id, wanted.join(' and '), async () => {
    if (await isReady(python, imports)) return;
    await step(`Python with ${wanted.join(' and ')}`, () => fill(dir, (draft) => install(draft, wanted)));
  });
  return python;
}

/** @type {(dir: string, packages: string[]) => Promise<void>} */
async function install(dir, packages) {
  await run(process.platform === 'win32' ? 'python' : 'python3', ['-m', 'venv', dir], { limitMs: 60_000 });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  await run(pythonOf(dir), [...pip, ...packages], { limitMs: 120_000 });
}

/** @type {(dir: string) => string} */
function pythonOf(dir) {
  return join(dir, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
}

/** @type {(python: string, imports: string) => Promise<boolean>} false too where the Python that it was made with is gone */
async function isReady(python, imports) {
  if (!existsSync(python)) return false;
  return run(python, ['-c', imports], { limitMs: 30_000 }).then(
    () => true,
    () => false,
  );
}
