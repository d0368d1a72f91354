import { ensureTool, onPath } from './find-tool.mjs';
import { run } from './run.mjs';
import { downloadWithSdk } from './sdk-download.mjs';

/** The last tag whose go.mod carries no `replace`: `go install` refuses the later ones. */
const VERSION = '1.5.1';

/** Older servers lack what operators and tests do here: pausing, resetting and updating a pending activity. */
const OLDEST_SERVER = { major: 1, minor: 28 };

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
      {
        name: "the SDK's own download",
        make: (dir, detail) => downloadWithSdk('dev-server', VERSION, dir, 'temporal', detail),
      },
      { name: `go install at v${VERSION}`, takes: 'two to five minutes, once', make: goInstall },
    ],
    advice:
      'Install the Temporal CLI and put it on PATH, or set TEMPORAL_CLI to its path, or install Go 1.24 or later and run this again.',
  });
}

/**
 * @param {string} dir
 * @param {(text: string) => void} detail
 */
async function goInstall(dir, detail) {
  if (!onPath('go')) throw new Error('Go is not installed');
  // Without cgo no C compiler is needed.
  const env = { GOBIN: dir, CGO_ENABLED: '0' };
  const target = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
  await run('go', ['install', '-v', target], { cwd: dir, env, onLine: detail });
}

/** @param {string} path */
async function check(path) {
  const output = await run(path, ['--version'], { limitMs: 30_000 });
  const [, major, minor] = /Server (\d+)\.(\d+)/.exec(output)?.map(Number) ?? [];
  if (major === undefined || minor === undefined) return;
  const { major: oldest, minor: oldestMinor } = OLDEST_SERVER;
  if (major < oldest || (major === oldest && minor < oldestMinor)) {
    throw new Error(`${path} starts server ${major}.${minor}, ${oldest}.${oldestMinor} or later is needed`);
  }
}
