import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { executableName, fillFolder, findQuietly, findTool, messageOf, onPath } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { lockFile, toolDir } from './places.mjs';
import { say, step } from './progress.mjs';
import { run } from './run.mjs';
import { downloadWithSdk } from './sdk-download.mjs';

/** The last tag whose go.mod carries no `replace`: `go install` refuses the later ones. */
const VERSION = '1.5.1';

/** Older servers lack what operators and tests do here: pausing, resetting and updating a pending activity. */
const OLDEST_SERVER = [1, 28];

const ADVICE =
  'Install the Temporal CLI and put it on PATH, or set TEMPORAL_CLI to its path, or install Go 1.24 or later and run this again.';

/**
 * A Temporal CLI that runs: `TEMPORAL_CLI`, the one on PATH, one cached by an earlier run, the SDK's own download, or one
 * built by `go install` through the Go module proxy.
 *
 * @returns {Promise<string>} its absolute path
 * @throws {Error} one message that names everything that was tried, or that `TEMPORAL_CLI` names no CLI that runs
 */
export async function ensureTemporalCli() {
  const wanted = process.env.TEMPORAL_CLI;
  if (wanted) return checkWanted(wanted);
  const ready = [
    { name: 'temporal on PATH', find: findOnPath },
    { name: 'the cache', find: findCached },
  ];
  const found = await findQuietly(ready);
  if (found) return found;
  const ways = [
    ...ready,
    { name: "the SDK's own download", find: download },
    { name: `go install at v${VERSION}`, find: build },
  ];
  return withLock(lockFile('temporal-cli'), 'the Temporal CLI', () => findTool('Temporal CLI', ways, ADVICE));
}

/** @param {string} path */
async function checkWanted(path) {
  try {
    return await check(path);
  } catch (error) {
    throw new Error(`TEMPORAL_CLI is set to ${path}, but: ${messageOf(error)}`);
  }
}

async function findOnPath() {
  const path = onPath('temporal');
  return path && check(path);
}

async function findCached() {
  const path = cachedPath();
  return existsSync(path) ? check(path) : undefined;
}

async function download() {
  return step(`Temporal CLI ${VERSION}: download`, async (detail) => {
    await fillFolder(toolDir('temporal-cli', VERSION), async (draft) => {
      const file = await downloadWithSdk('dev-server', `v${VERSION}`, draft, detail);
      await rename(file, join(draft, executableName('temporal')));
      await check(join(draft, executableName('temporal')));
    });
    return cachedPath();
  });
}

async function build() {
  if (!onPath('go')) throw new Error('Go is not installed');
  say('Building the Temporal CLI from its source takes two to five minutes, once.');
  return step(`Temporal CLI ${VERSION}: go install`, async (detail) => {
    await fillFolder(toolDir('temporal-cli', VERSION), async (draft) => {
      // Without cgo no C compiler is needed.
      const env = { ...process.env, GOBIN: draft, CGO_ENABLED: '0' };
      const target = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
      await run('go', ['install', '-v', target], { cwd: draft, env, onLine: detail });
      await check(join(draft, executableName('temporal')));
    });
    return cachedPath();
  });
}

function cachedPath() {
  return join(toolDir('temporal-cli', VERSION), executableName('temporal'));
}

/**
 * @param {string} path
 * @returns {Promise<string>} `path`
 * @throws {Error} when it doesn't run or its server is too old
 */
async function check(path) {
  const said = await run(path, ['--version'], { limitMs: 30_000 });
  const [, major, minor] = /Server (\d+)\.(\d+)/.exec(said) ?? [];
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_SERVER;
  const tooOld =
    major !== undefined && (+major < oldestMajor || (+major === oldestMajor && Number(minor) < oldestMinor));
  if (tooOld) throw new Error(`${path} starts server ${major}.${minor}, ${OLDEST_SERVER.join('.')} or later is needed`);
  return path;
}
