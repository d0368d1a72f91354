import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnvFile } from '../../../src/config/env-file';
import { describeVariable, VARIABLE_NAMES } from '../../../src/config/variables';
import { temporaryFolder } from '../../support/clean-up';

const EXAMPLE = readFileSync(join(__dirname, '../../../.env.example'), 'utf8');
const NAME = /^(?:export )?([A-Z][A-Z0-9_]*)=/;
const FILLED = {
  PARTNER_BASE_URL: 'https://partner.example/a?b=c&d=e',
  PARTNER_API_KEY: 'a $key with #signs, `ticks` and "quotes"',
  FINGERPRINT_SECRET: 'newest-secret-of-32-bytes-or-more  older-secret-of-32-bytes-or-more',
};

/** `.env.example` with every line uncommented and the required values filled in as its header says. */
function everythingUncommented(): string {
  let text = EXAMPLE.replace(/^# (?=[A-Z][A-Z0-9_]*=)/gm, '');
  for (const [name, value] of Object.entries(FILLED)) text = text.replace(`${name}=\n`, () => `${name}='${value}'\n`);
  return text;
}

const namesIn = (text: string) => text.split('\n').flatMap((line) => NAME.exec(line)?.[1] ?? []);
const PRINT = `process.stdout.write(JSON.stringify(process.env))`;

/** The variables that a command sees. `commandFor` gets the path of the file. */
function run(text: string, commandFor: (file: string) => string[]): Record<string, string> {
  const file = join(temporaryFolder(), '.env');
  writeFileSync(file, text);
  const [command = '', ...args] = commandFor(file);
  const output = execFileSync(command, args, { env: { PATH: process.env.PATH }, encoding: 'utf8' });
  const all = JSON.parse(output) as Record<string, string>;
  return Object.fromEntries(namesIn(text).map((name) => [name, all[name] ?? 'not set']));
}

const NODE = process.execPath;
const READERS: Record<string, (text: string) => Record<string, string>> = {
  'a shell': (text) => run(text, (file) => ['sh', '-ec', `set -a; . "${file}"; exec "${NODE}" -e '${PRINT}'`]),
  'node --env-file': (text) => run(text, (file) => [NODE, `--env-file=${file}`, '-e', PRINT]),
  compose: readAsCompose,
};

/**
 * Reads values as compose's env_file does: single quotes keep everything; otherwise `$` is replaced, and `#` after a
 * space begins a comment. Source: docs.docker.com/compose/how-tos/environment-variables, "Env file syntax".
 */
function readAsCompose(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name = '', written = ''] = /^(?:export )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    expect(name).not.toBe('');
    const [, single] = /^'([^']*)'$/.exec(written) ?? [];
    const plain = written.replace(/ +#.*$/, '').trim();
    if (single === undefined) expect(plain).not.toMatch(/['"$\\]/);
    values[name] = single ?? plain;
  }
  return values;
}

describe('.env.example with every line uncommented', () => {
  const text = everythingUncommented();

  it('names every variable', () => {
    const names = [...VARIABLE_NAMES, 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
    expect(namesIn(text)).toEqual(expect.arrayContaining(names));
  });

  it.each(Object.keys(READERS))('yields the defaults and the filled-in values in %s', (reader) => {
    const expected = Object.fromEntries(VARIABLE_NAMES.map((name) => [name, describeVariable(name).default ?? '']));
    expect(READERS[reader]!(text)).toMatchObject({
      ...expected,
      ...FILLED,
      TEMPORAL_ADDRESS: 'localhost:7233',
      TEMPORAL_NAMESPACE: 'default',
      RECONCILE_CRON: '0 3 * * *',
    });
  });
});

describe('.env as the programs load it', () => {
  function load(text: string): NodeJS.ProcessEnv {
    const [folder, environment] = [process.cwd(), process.env];
    process.chdir(temporaryFolder());
    process.env = { GIVEN: 'before' };
    try {
      writeFileSync('.env', text);
      loadEnvFile();
      return process.env;
    } finally {
      process.chdir(folder);
      process.env = environment;
    }
  }

  it.each([
    ['with a byte order mark', '\uFEFFFIRST=1\nSECOND=2\n'],
    ['with Windows line ends', 'FIRST=1\r\nSECOND=2\r\n'],
    ['with old Mac line ends', 'FIRST=1\rSECOND=2\r'],
  ])('%s, has all variables', (_, text) => {
    expect(load(text)).toMatchObject({ FIRST: '1', SECOND: '2' });
  });

  it('keeps variables that are set, and values of several lines', () => {
    expect(load('GIVEN=after\nPEM="-----BEGIN\nabc=\n-----END"\n')).toMatchObject({
      GIVEN: 'before',
      PEM: '-----BEGIN\nabc=\n-----END',
    });
  });

  it.each([
    ['a colon', 'FIRST=1\n\n# a comment\nPARTNER_TIMEOUT: live_secret\n', 4],
    ['no equals sign', 'PEM="-----BEGIN\nabc=\n-----END"\n  live_secret\n', 4],
    ['a name with a space', "A='x'\r\nPARTNER TIMEOUT=live_secret", 2],
    ['no name', '=live_secret', 1],
  ])(
    'is rejected with the number of a line that has %s and would silently be ignored, without showing the line',
    (_, text, line) => {
      const loaded = () => load(text);
      expect(loaded).toThrow(`.env, line ${line} is neither NAME=value, a comment (#) nor empty`);
      expect(loaded).not.toThrow(/live_secret/);
    },
  );

  it('may have exports, blanks, comments after values, empty values and all kinds of quotes', () => {
    const text = " export A = 1 # one\n\t\n  # two\nB=\nC=`x\ny`\nD='it''s'\nE=\"don't\"";
    expect(load(text)).toMatchObject({ A: '1', B: '', C: 'x\ny', E: "don't" });
  });

  it('is rejected if a quote is never closed, because the value would contain the secrets after it', () => {
    const loaded = () => load("TEMPORAL_ADDRESS='127.0.0.1:7233\nPARTNER_API_KEY=live_secret\nLOG_LEVEL='debug'\n");
    expect(loaded).toThrow(
      /the value of TEMPORAL_ADDRESS contains the line that sets PARTNER_API_KEY. Close the quote./,
    );
    expect(loaded).not.toThrow(/live_secret/);
  });
});
