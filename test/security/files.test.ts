import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPartnerConfig } from '../../src/config';
import { temporaryFolder } from '../support/clean-up';
import { startReadyWorker } from '../support/processes';
import { startHostileEnvironment } from './support/hostile-environment';
import { findLeaks } from './support/leak-search';

it('a file that is being written is not read, because half a key looks like a whole one', () => {
  const path = join(temporaryFolder(), 'key');
  const problems: string[] = [];
  const changedAt = () => statSync(path).ctimeMs;
  writeFileSync(path, 'old-key');
  let now = changedAt() - 10_000;
  const { apiKey } = readPartnerConfig(
    { PARTNER_BASE_URL: 'https://a.example', PARTNER_API_KEY_FILE: path },
    { now: () => now, onProblem: (problem) => problems.push(problem) },
  );
  const keyAt = (time: number) => {
    now = time;
    return apiKey();
  };
  writeFileSync(path, '');
  expect(keyAt(changedAt() + 500)).toBe('old-key');
  appendFileSync(path, 'new-');
  expect(keyAt(changedAt() + 999)).toBe('old-key');
  appendFileSync(path, 'key\n');
  expect(keyAt(changedAt() + 2_500)).toBe('new-key');
  expect(problems).toEqual([]);
});

it('events in a folder are readable by their owner only, whatever the umask of the worker is', async () => {
  const environment = await startHostileEnvironment();
  const { DELIVERY_URL: _url, DELIVERY_SECRET: _secret, ...env } = environment.env;
  const deliveries = join(temporaryFolder(), 'deliveries');
  await startReadyWorker({ env: { ...env, DELIVERY_DIR: deliveries }, umask: 0 });
  await environment.starter.result(await environment.buy({ name: 'folder' }));

  const files = readdirSync(deliveries).map((name) => join(deliveries, name));
  const text = files.map((file) => readFileSync(file, 'utf8')).join();
  const keys = (await environment.issuedKeys()).map((value) => ({ name: 'key', value }));
  expect(findLeaks(keys, [{ place: 'folder', text }])).not.toEqual([]);
  expect(files.map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual(['600']);
  expect((statSync(deliveries).mode & 0o777).toString(8)).toBe('700');
});
