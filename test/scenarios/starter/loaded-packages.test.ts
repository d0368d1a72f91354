import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/clean-up';

const STARTER = join(__dirname, '../../../dist/starter.js');

/** Writes the names of all packages that a process has loaded, as it ends. */
const PROBE = `process.on('exit', () => {
  const names = Object.keys(require.cache).map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
  require('node:fs').writeFileSync(process.env.LOADED, JSON.stringify([...new Set(names)]));
});`;

describe('the whole graph of modules behind dist/starter.js', () => {
  const folder = temporaryFolder();
  const probe = join(folder, 'probe.cjs');
  writeFileSync(probe, PROBE);

  async function packagesLoadedBy(...args: string[]): Promise<string[]> {
    const LOADED = join(folder, `${randomUUID()}.json`);
    const env = { PATH: process.env.PATH, TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS, LOADED };
    await promisify(execFile)(process.execPath, ['--require', probe, ...args], { env });
    return (JSON.parse(readFileSync(LOADED, 'utf8')) as (string | null)[]).filter((name) => name !== null);
  }

  const OF_A_WORKER = ['@temporalio/worker', '@temporalio/core-bridge', '@temporalio/workflow', 'undici'];
  const among = (loaded: string[], names: string[]) => names.filter((name) => loaded.includes(name));

  it('imported by a checkout loads the client of Temporal: no native bridge, no undici, no commands', async () => {
    const loaded = await packagesLoadedBy('-e', `require(${JSON.stringify(STARTER)}).createStarter`);
    expect(loaded).toContain('@temporalio/client');
    expect(among(loaded, [...OF_A_WORKER, 'commander'])).toEqual([]);
  });

  it('run as `list` loads the client of Temporal, and nothing of a worker', async () => {
    const loaded = await packagesLoadedBy(STARTER, 'list');
    expect(among(loaded, ['commander', '@temporalio/client'])).toHaveLength(2);
    expect(among(loaded, OF_A_WORKER)).toEqual([]);
  });

  it('run as `--help` loads neither client nor zod, so that it answers at once', async () => {
    expect(await packagesLoadedBy(STARTER, '--help')).toEqual(['commander', 'fastest-levenshtein']);
  });
});
