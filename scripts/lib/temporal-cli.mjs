import { ensureTool, onPath } from './find-tool.mjs';
import { log } from './log.mjs';
import { run } from './run.mjs';
import { downloadWithSdk } from './sdk-download.mjs';

/** The last tag whose go.mod carries no `replace`: `go install` refuses the later ones. */
const VERSION = '1.5.1';

/** Older servers lack what operators and tests do here: pausing, resetting and updating a pending activity. */
const OLDEST_SERVER = '1.28';

/**
 * A Temporal CLI that runs: `TEMPORAL_CLI`, the one on PATH, one cached by an earlier run, the SDK's own download, or one
 * built by `go install` through the Go module proxy.
 *
 * @returns {Promise<string>} its absolute path
 * @throws {Error} one message that names everything that was tried, or that `TEMPORAL_CLI` names no CLI that runs
 */
export function ensureTemporalCli() {
  return ensureTool({
    name: 'Temporal CLI',
    id: 'temporal-cli',
    version: VERSION,
    file: 'temporal',
    variable: 'TEMPORAL_CLI',
    check,
    ready: [{ name: 'temporal on PATH', find: () => onPath('temporal') }],
    makers: [
      { name: "the SDK's own download", make: (...to) => downloadWithSdk('dev-server', VERSION, 'temporal', ...to) },
      { name: `go install at v${VERSION}`, make: goInstall },
    ],
    advice:
      'Install the Temporal CLI and put it on PATH, or set TEMPORAL_CLI to its path, or install Go 1.24 or later and run this again.',
  });
}

/** @type {import('./find-tool.mjs').Make} */
async function goInstall(dir, detail) {
  if (!onPath('go')) throw new Error('Go is not installed');
  log('Building the Temporal CLI from its source takes two to five minutes, once.');
  const target = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
  // Without cgo no C compiler is needed.
  await run('go', ['install', '-v', target], { cwd: dir, env: { GOBIN: dir, CGO_ENABLED: '0' }, onLine: detail });
}

/** @param {string} path */
async function check(path) {
  const output = await run(path, ['--version'], { limitMs: 30_000 });
  const server = /Server (\d+\.\d+)/.exec(output)?.[1];
  if (server && server.localeCompare(OLDEST_SERVER, 'en', { numeric: true }) < 0) {
    throw new Error(`${path} starts server ${server}, ${OLDEST_SERVER} or later is needed`);
  }
}
