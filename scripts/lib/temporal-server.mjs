import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureTool, onPath } from './find-tool.mjs';
import { log } from './log.mjs';
import { run } from './run.mjs';

/** The same version as in docker-compose.yml. */
const VERSION = '1.32.2';

const SERVER = 'temporal-server';
const SQL_TOOL = 'temporal-sql-tool';

/**
 * Returns the path of the production server, whose folder also contains its SQL tool. If necessary, `go install` builds
 * both through the Go module proxy.
 */
export function ensureTemporalServer() {
  return ensureTool({
    name: 'Temporal server',
    id: SERVER,
    version: VERSION,
    file: SERVER,
    variable: 'TEMPORAL_SERVER',
    async check(path) {
      const sqlTool = join(dirname(path), SQL_TOOL);
      if (!existsSync(sqlTool)) throw new Error(`there is no ${SQL_TOOL} next to ${path}`);
      const versions = [await versionOf(path), await versionOf(sqlTool)];
      if (versions.some((version) => version.localeCompare(VERSION, 'en', { numeric: true }) < 0))
        throw new Error(`${path} and its SQL tool are ${versions.join(' and ')}, but ${VERSION} or later is needed`);
    },
    download: {
      name: "the release's own archive",
      async make(dir) {
        const platform = process.platform === 'win32' ? 'windows' : process.platform;
        const archive = `temporal_${VERSION}_${platform}_${process.arch === 'x64' ? 'amd64' : process.arch}.tar.gz`;
        const url = `https://github.com/temporalio/temporal/releases/download/v${VERSION}/${archive}`;
        // An unresponsive host must not block the fallback.
        const limits = ['--connect-timeout', '20', '--speed-limit', '1000', '--speed-time', '20'];
        await run('curl', ['--fail', '--silent', '--show-error', '--location', ...limits, '--output', archive, url], {
          cwd: dir,
        });
        await run('tar', ['-xzf', archive, SERVER, SQL_TOOL], { cwd: dir });
      },
    },
    fallback: `go install at v${VERSION}`,
    async make(dir, detail) {
      if (!onPath('go')) throw new Error('Go is not installed');
      log('Building the Temporal server from source. This takes five to twenty minutes, but only once.');
      // Without cgo, no C compiler is needed. The server often needs a newer Go, which Go then downloads as a module.
      const env = { GOBIN: dir, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' };
      const options = { cwd: dir, env, onLine: detail };
      const commands = ['server', 'tools/sql'].map((name) => `go.temporal.io/server/cmd/${name}@v${VERSION}`);
      await run('go', ['install', '-v', ...commands], options);
      await rename(join(dir, 'server'), join(dir, SERVER));
      await rename(join(dir, 'sql'), join(dir, SQL_TOOL));
    },
    advice: `Put ${SERVER} and ${SQL_TOOL} ${VERSION} on PATH, or set TEMPORAL_SERVER to the path of the first, or install Go.`,
  });
}

/** @type {(path: string) => Promise<string>} */
async function versionOf(path) {
  return /version (\S+)/.exec(await run(path, ['--version'], { limitMs: 30_000 }))?.[1] ?? 'unknown';
}
