import { appendFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPartnerConfig } from '../../src/config';
import { temporaryFolder } from '../support/clean-up';

it('a file in the middle of being written is not read: half of a key looks like a whole one', () => {
  const path = join(temporaryFolder(), 'key');
  const problems: string[] = [];
  const changedAt = () => statSync(path).ctimeMs;
  writeFileSync(path, 'old-key');
  let now = changedAt() - 10_000;
  const { apiKey } = readPartnerConfig(
    { PARTNER_BASE_URL: 'http://a.example', PARTNER_API_KEY_FILE: path },
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
