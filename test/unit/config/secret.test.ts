import { chmodSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigError, readPartnerConfig } from '../../../src/config';
import { temporaryFolder } from '../../support/clean-up';

let dir: string;
let path: string;
let clock: number;
let problems: string[];

beforeEach(() => {
  dir = temporaryFolder();
  path = join(dir, 'api-key');
  clock = 0;
  problems = [];
});

function read(env: Record<string, string> = {}) {
  return readPartnerConfig(
    { PARTNER_BASE_URL: 'https://a.example', PARTNER_API_KEY_FILE: path, ...env },
    { now: () => clock, onProblem: (problem) => problems.push(problem) },
  );
}

function issuesOf(env: Record<string, string> = {}): ConfigError['issues'] {
  try {
    read(env);
    return [];
  } catch (error) {
    return (error as ConfigError).issues;
  }
}

const later = () => (clock += 1_000);

describe('a secret in a file', () => {
  it.each(['', '\n', '\r\n'])('is read without the line break at its end: %j', (end) => {
    writeFileSync(path, `fake-key-1${end}`);
    expect(read().apiKey()).toBe('fake-key-1');
  });

  it('is read again without a restart when the file is rewritten, replaced or relinked', () => {
    writeFileSync(path, 'fake-key-1');
    const { apiKey } = read();
    const keyAfter = (change: () => void) => (change(), later(), apiKey());

    expect(keyAfter(() => writeFileSync(path, 'fake-key-2'))).toBe('fake-key-2');
    writeFileSync(`${path}.new`, 'fake-key-3');
    expect(keyAfter(() => renameSync(`${path}.new`, path))).toBe('fake-key-3');
    writeFileSync(join(dir, 'v4'), 'fake-key-4');
    unlinkSync(path);
    expect(keyAfter(() => symlinkSync(join(dir, 'v4'), path))).toBe('fake-key-4');
    expect(problems).toEqual([]);
  });

  it.each(['sk_live_0123456789', 'whsec_MfKQ9r8GKYqrTwjUPD8/ILPZIo2LaLaSw', '/4d2c+0123456789=='])(
    'is not shown if the variable has the secret instead of a path: %s',
    (secret) => {
      const [issue] = issuesOf({ PARTNER_API_KEY_FILE: secret });
      expect(issue?.got).toBe(
        "a path that can't be read (ENOENT) and is not shown, because it may be the secret itself",
      );
      expect(JSON.stringify(issue)).not.toContain(secret);
    },
  );

  it('whose path is wrong is named by that path', () => {
    for (const wrong of [join(dir, 'missing'), './missing'])
      expect(issuesOf({ PARTNER_API_KEY_FILE: wrong })[0]?.got).toContain(`the file ${wrong}, which can't be read`);
  });

  it.each<[string, number, number, boolean]>([
    ['everyone can read is used, with a warning', 0o755, 0o644, true],
    ['everyone could read, but in a private folder, is used without a warning', 0o700, 0o644, false],
    ['the group can read is used without a warning', 0o755, 0o640, false],
  ])('that %s', (_, ofFolder, ofFile, isOpen) => {
    writeFileSync(path, 'fake-key-1');
    chmodSync(path, ofFile);
    chmodSync(dir, ofFolder);
    expect(read().apiKey()).toBe('fake-key-1');
    const warning = `PARTNER_API_KEY_FILE: every user of this machine can read the file ${path}; run chmod 600 to prevent that`;
    expect(problems).toEqual(isOpen ? [warning] : []);
  });

  it('is checked at most once a second, and still checked after the clock was set back', () => {
    writeFileSync(path, 'fake-key-1');
    const { apiKey } = read();
    const keyAt = (at: number) => ((clock = at), apiKey());
    writeFileSync(path, 'fake-key-2');
    expect([keyAt(999), keyAt(1_000)]).toEqual(['fake-key-1', 'fake-key-2']);
    clock = 10_000;
    apiKey();
    writeFileSync(path, 'fake-key-3');
    expect(keyAt(5)).toBe('fake-key-3');
  });

  it.each([
    ['missing', () => unlinkSync(path)],
    ['empty', () => writeFileSync(path, '')],
    ['invalid', () => writeFileSync(path, 'two words')],
  ])('that is %s during a rotation keeps its last valid value and is reported once', (_, spoil) => {
    writeFileSync(path, 'fake-key-1');
    const { apiKey } = read();
    const keyLater = () => (later(), apiKey());
    spoil();
    expect([keyLater(), keyLater(), keyLater()]).toEqual(['fake-key-1', 'fake-key-1', 'fake-key-1']);
    expect(problems).toEqual([expect.stringContaining('PARTNER_API_KEY_FILE')]);
    expect(problems[0]).not.toMatch(/fake-key-1|two words/);

    writeFileSync(path, 'fake-key-2');
    expect(keyLater()).toBe('fake-key-2');
    spoil();
    keyLater();
    expect(problems).toHaveLength(2);
  });

  it.each([
    ['no file', (): void => undefined],
    ['an empty file', () => writeFileSync(path, '\n')],
    ['a file with an invalid value', () => writeFileSync(path, 'two words')],
    ['a file with one space', () => writeFileSync(path, ' ')],
    ['an endless file', () => symlinkSync('/dev/zero', path)],
    ['a large file', () => writeFileSync(path, 'x'.repeat(65 * 1024))],
    ['a folder', () => symlinkSync(dir, path)],
  ])('must be usable at start-up: %s is rejected with the name of its variable but not its content', (_, prepare) => {
    prepare();
    const issues = issuesOf();
    expect(issues).toEqual([expect.objectContaining({ variable: 'PARTNER_API_KEY_FILE' })]);
    expect(issues[0]!.got).toContain(path);
    expect(issues[0]!.got).not.toContain('two words');
  });

  it('is rejected if the environment has the secret too, because the intended one is unclear', () => {
    writeFileSync(path, 'fake-key-1');
    expect(issuesOf({ PARTNER_API_KEY: 'fake-key-2' })).toEqual([
      expect.objectContaining({ variable: 'PARTNER_API_KEY', got: 'both' }),
    ]);
  });
});
