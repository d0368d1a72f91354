import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { run } from './run.mjs';

const { platform, arch } = process;
const OS = platform === 'win32' ? 'win' : platform;

/** The package that the install script of the package `node` fetches. npm may not run that script. */
const PACKAGE = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${OS}-${arch}`;

/**
 * Returns the path of this version of Node, which npm installs into the cache.
 *
 * @param {string} wanted an exact version, or the start of a version, such as `24` or `20.19`, for the newest match
 * @throws Error if npm has no such version, or if it does not run here
 */
export async function ensureNode(wanted) {
  if (!/^\d+(\.\d+){0,2}$/.test(wanted))
    throw new Error(`expected a version of Node such as 24 or 20.19, got ${wanted}`);
  const version = wanted.split('.').length === 3 ? wanted : await newestOf(wanted);
  const dir = join(cacheDir(), `node-${version}-${platform}-${arch}`);
  const node = join(dir, 'node_modules', PACKAGE, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  await withLock(`node-${version}`, `Node ${version}`, async () => {
    if (existsSync(node)) return;
    const install = ['install', '--prefix', '.', '--no-save', '--no-audit', '--no-fund', `${PACKAGE}@${version}`];
    await step(`Node ${version}: ${PACKAGE} from npm`, (detail) =>
      fill(dir, async (draft) => void (await run('npm', install, { cwd: draft, onLine: detail }))),
    );
  });
  const said = await run(node, ['--version'], { limitMs: 30_000, stdoutOnly: true });
  if (said !== `v${version}`) throw new Error(`${node} says that it is ${said}, not v${version}`);
  return node;
}

/** @type {(wanted: string) => Promise<string>} */
async function newestOf(wanted) {
  const view = ['view', '--json', '--silent', `${PACKAGE}@${wanted}`, 'version'];
  const found = await run('npm', view, { stdoutOnly: true }).catch((error) => {
    throw new Error(`npm found no Node ${wanted}: ${error.message}`, { cause: error });
  });
  /** @type {string[]} npm prints a single version without a list */
  const versions = [JSON.parse(found)].flat();
  return String(versions.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1));
}
