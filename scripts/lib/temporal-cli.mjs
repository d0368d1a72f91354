import { ensureTool, onPath } from './find-tool.mjs';
import { log } from './log.mjs';
import { run } from './run.mjs';

/** The last version without a `replace` in go.mod. `go install` rejects later ones. */
const VERSION = '1.5.1';

/** Older servers can't pause, reset or update a pending activity, which operators and tests need. */
const MIN_SERVER_VERSION = '1.28';

/** Returns the path of a working Temporal CLI. If necessary, `go install` builds it through the Go module proxy. */
export function ensureTemporalCli() {
  return ensureTool({
    name: 'Temporal CLI',
    id: 'temporal-cli',
    version: VERSION,
    file: 'temporal',
    variable: 'TEMPORAL_CLI',
    kind: 'dev-server',
    async check(path) {
      const [, server] = /Server (\d+\.\d+)/.exec(await run(path, ['--version'], { limitMs: 30_000 })) ?? [];
      if (server && server.localeCompare(MIN_SERVER_VERSION, 'en', { numeric: true }) < 0)
        throw new Error(`${path} starts server ${server}, but ${MIN_SERVER_VERSION} or later is needed`);
    },
    fallback: `go install at v${VERSION}`,
    async make(dir, detail) {
      if (!onPath('go')) throw new Error('Go is not installed');
      log('Building the Temporal CLI from source. This takes two to five minutes, but only once.');
      const target = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
      // Without cgo, no C compiler is needed.
      await run('go', ['install', '-v', target], { cwd: dir, env: { GOBIN: dir, CGO_ENABLED: '0' }, onLine: detail });
    },
    advice:
      'Put a Temporal CLI on PATH, or set TEMPORAL_CLI to its path, or install Go 1.24 or later, and run this again.',
  });
}
