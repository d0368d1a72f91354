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

describe('the full module graph of dist/starter.js', () => {
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

  it('contains the Temporal client, but no native bridge, undici or commands, when a checkout imports it', async () => {
    const loaded = await packagesLoadedBy('-e', `require(${JSON.stringify(STARTER)}).createStarter`);
    expect(loaded).toContain('@temporalio/client');
    expect(among(loaded, [...OF_A_WORKER, 'commander'])).toEqual([]);
  });

  it('contains the Temporal client, but nothing of a worker, when it runs `list`', async () => {
    const loaded = await packagesLoadedBy(STARTER, 'list');
    expect(among(loaded, ['commander', '@temporalio/client'])).toHaveLength(2);
    expect(among(loaded, OF_A_WORKER)).toEqual([]);
  });

  it('contains neither the client nor zod when it runs `--help`, so that the help appears at once', async () => {
    expect(await packagesLoadedBy(STARTER, '--help')).toEqual(['commander', 'fastest-levenshtein']);
  });
});
