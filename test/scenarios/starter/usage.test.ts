import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/clean-up';
import { runCommand } from '../../support/command';
import { startDevServer } from '../../support/dev-server';
import {
  standaloneWorkerEnv,
  type ProcessEnv,
  startProcess,
  starterProcess,
  startStarter,
} from '../../support/processes';

const ROOT = join(__dirname, '../../..');

/**
 * Nothing listens there, so a command fails in another way if it contacts the server before it has read its
 * arguments.
 */
const NOWHERE = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
const NO_PARTNER = { PARTNER_BASE_URL: 'http://127.0.0.1:1', PARTNER_API_KEY: 'k' };
/** The whole command. */
const PURCHASE = 'npx fulfilment purchase REFERENCE --item PRODUCT:QUANTITY [--max-debit AMOUNT] [--wait]';
const WRONG_LOOKBACK = 'RECONCILE_LOOKBACK: expected a duration from 1m to 8760h, written with ms, s, m or h';

describe('a usage error exits with 2 and one message, and contacts nothing', () => {
  it.each([
    ['no command', [], 'Usage: npx fulfilment'],
    ['a misspelt command', ['statsu', 'R-1'], 'Unknown command: statsu. Did you mean status?'],
    ['an unknown command', ['buy', 'R-1'], 'Unknown command: buy. The commands are purchase, status,'],
    ['help for an unknown command', ['help', 'buy'], 'Unknown command: buy. The commands are purchase, status,'],
    ['an unknown subcommand', ['schedule', 'creat'], 'Unknown command: schedule creat. Did you mean create?'],
    ['an unknown option', ['status', 'R-1', '--xyz'], 'Unknown option: --xyz. The options are --json'],
    ['a misspelt option', ['purchase', 'R-1', '--items', 'a:1'], 'Unknown option: --items. Did you mean --item?'],
    ['no reference', ['status'], 'REFERENCE is missing: npx fulfilment status REFERENCE'],
    [
      'two references',
      ['status', 'R-1', 'R-2'],
      'Too many arguments. Options begin with --. npx fulfilment status --help lists',
    ],
    ['no item', ['purchase', 'R-1'], `--item is missing: ${PURCHASE}`],
    ['no item, and a comment that was pasted with it', ['purchase', 'R-1', '#', 'buys', 'it'], '--item is missing'],
    ['neither reference nor item', ['purchase'], `REFERENCE is missing: ${PURCHASE}`],
    ['no reference, but an item', ['purchase', '--item', 'a:1'], `REFERENCE is missing: ${PURCHASE}`],
    [
      'an option without its value',
      ['purchase', 'R-1', '--item'],
      'A value is missing after --item: --item PRODUCT:QUANTITY',
    ],
    [
      'an item without a quantity',
      ['purchase', 'R-1', '--item', 'steam-50'],
      '--item: expected PRODUCT:QUANTITY, such as',
    ],
    ['half a key', ['purchase', 'R-1', '--item', 'a:1.5'], '--item: expected PRODUCT:QUANTITY, such as'],
    ['zero keys', ['purchase', 'R-1', '--item', 'a:0'], 'expected an integer of 1 to 1000, got 0'],
    ['too many keys', ['purchase', 'R-1', '--item', 'a:1001'], 'expected an integer of 1 to 1000, got 1001'],
    ['a product listed twice', ['purchase', 'R-1', '--item', 'a:1', '--item', 'a:2'], '"a" is listed twice'],
    [
      'a negative maximum debit',
      ['purchase', 'R-1', '--item', 'a:1', '--max-debit=-1'],
      '--max-debit: expected a number of at least 0',
    ],
    [
      'a reference with a space',
      ['purchase', 'R 1', '--item', 'a:1'],
      'REFERENCE: expected 1 to 100 characters of A-Z a-z 0-9',
    ],
    [
      'a reference that is too long',
      ['status', 'R'.repeat(101)],
      'REFERENCE: expected 1 to 100 characters of A-Z a-z 0-9',
    ],
    ['no decision', ['resolve', 'R-1'], 'Expected exactly one of --order ID, --replace'],
    ['two decisions', ['resolve', 'R-1', '--replace', '--abandon'], 'got --replace and --abandon'],
    [
      'an order id that would change a path',
      ['resolve', 'R-1', '--order', '../x'],
      '--order: expected the id of an order',
    ],
    ['an unknown state', ['list', '--state', 'LOST'], '--state: expected one of PLACING, PAUSED,'],
    ['a misspelt state', ['list', '--state', 'HOLD'], 'got HOLD. Did you mean HELD?'],
    ['an unknown sort', ['products', '--sort', 'CHEAPEST'], '--sort: expected one of DATE_DESC'],
    ['an unknown shell', ['completion', 'csh'], 'SHELL: expected one of bash, zsh, fish, got csh'],
    ['page zero', ['orders', '--page', '0'], '--page: expected a whole number from 1, got 0'],
    ['too many products per page', ['products', '--limit', '501'], 'from 1 to 500, got 501'],
    ['too many orders per page', ['orders', '--all', '--limit', '501'], 'from 1 to 500, got 501'],
    ['one page of all pages', ['orders', '--all', '--page', '2'], "'--page <n>' cannot be used with option '--all'"],
    ['an empty search', ['orders', '--search', ''], 'expected an order id or a reference, got nothing'],
  ])('%s', async (_, args, message) => {
    const { code, printed, said } = await runCommand(args);
    expect(said).toContain(message);
    expect(said).not.toMatch(/^error:|command-argument|required option/);
    expect({ code, printed }).toEqual({ code: 2, printed: '' });
  });

  it.each([
    ['a reference', ['status', 'x\u001B[2J\nforged']],
    ['a command', ['sta\u001B[2J\nforged']],
    ['an option', ['list', '--\u001B[2J\nforged']],
    ['a value', ['list', '--state', '\u001B[2J\nforged']],
    ['an item', ['purchase', 'R-1', '--item', '\u001B[2J\nforged']],
  ])(
    'quotes %s from the command line without characters that could clear the screen or forge a line',
    async (_, args) => {
      const { code, said } = await runCommand(args);
      expect(code).toBe(2);
      expect(said).not.toContain('\u001B');
      expect(said).not.toMatch(/^forged/m);
    },
  );

  it('prints the error as the only document on stdout with --json', async () => {
    const { code, stdout } = await starterProcess(['resolve', 'R-1', '--json'], NOWHERE);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { name: 'UsageError', message: expect.stringContaining('Expected exactly one of') as string },
    });
  });
});

describe('npx fulfilment', () => {
  it('works in the project folder without a network and with an empty npm cache', async () => {
    // An npx that has seen this folder before does not make them executable again.
    for (const name of ['starter.js', 'worker.js']) expect(statSync(join(ROOT, 'dist', name)).mode & 0o111).toBe(0o111);
    const env = { PATH: process.env.PATH, npm_config_cache: temporaryFolder(), npm_config_offline: 'true' };
    const { stdout } = await promisify(execFile)('npx', ['fulfilment', '--version'], { cwd: ROOT, env });
    expect(stdout).toMatch(/^fulfilment \d/);
  });

  it('shows the versions of this software, Node and the SDK', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const { code, printed } = await runCommand(['--version']);
    expect({ code, printed }).toEqual({
      code: 0,
      printed: `fulfilment ${version}\nnode ${process.versions.node}\ntemporal sdk 1.24.0\n`,
    });
    expect(JSON.parse((await runCommand(['--version', '--json'])).printed)).toMatchObject({ fulfilment: version });
  });
});

it('prints one JSON document with --json, even for help and completion', async () => {
  const help = await runCommand(['status', '--json', '--help']);
  expect(help.code).toBe(0);
  expect(JSON.parse(help.printed)).toEqual({ help: expect.stringContaining('show the state of a purchase') as string });
  const { printed } = await runCommand(['completion', 'bash', '--json']);
  expect(JSON.parse(printed)).toEqual({ completion: (await runCommand(['completion', 'bash'])).printed });
});

describe('completion', () => {
  const scriptOf = async (shell: string) => (await runCommand(['completion', shell])).printed;

  /** What bash offers for the last of these words. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = `${await scriptOf('bash')}
      COMP_WORDS=(fulfilment ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
      _fulfilment; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script]);
    return stdout.trim().split('\n');
  }

  it.each([
    [['sta'], ['status']],
    [['re'], ['resolve', 'redeliver', 'reconcile']],
    [['schedule', 'p'], ['pause']],
    [['resolve', 'R-1', '--re'], ['--replace']],
    [
      ['list', '--state', 'PA'],
      ['PAUSED', 'PARTIALLY_DELIVERED'],
    ],
    [
      ['products', '--in-stock', ''],
      ['true', 'false'],
    ],
    [['completion', 'z'], ['zsh']],
    [['status', 'R-1', '--he'], ['--help']],
  ])('in bash completes %j to %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it('for zsh and fish is built from the same commands', async () => {
    expect(await scriptOf('zsh')).toContain(await scriptOf('bash'));
    const fish = await scriptOf('fish');
    expect(fish).toContain(
      "complete -c fulfilment -n '__fish_use_subcommand' -a status -d 'show the state of a purchase",
    );
    expect(fish).toMatch(/__fish_seen_subcommand_from list' -l state -x -a 'PLACING PAUSED/);
  });
});

describe('a .env file in the current directory', () => {
  function folderWith(text: string): string {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.env'), text);
    return folder;
  }

  it('is loaded by the commands, but never overrides a variable that is set', async () => {
    const folder = folderWith('TEMPORAL_PROFILE=no-such\nTEMPORAL_ADDRESS=127.0.0.1:1\n');
    const loaded = await starterProcess(['status', 'R-1'], {}, folder);
    expect(loaded).toMatchObject({ code: 78, stdout: '' });
    expect(loaded.stderr).toContain("Profile 'no-such' not found");
    const other = await starterProcess(['status', 'R-1'], { TEMPORAL_PROFILE: 'another' }, folder);
    expect(other.stderr).toContain("Profile 'another' not found");
  });

  it('is loaded by the worker, which reports a shell command that was not run', async () => {
    const cwd = folderWith('FINGERPRINT_SECRET=$(openssl rand -hex 32)\n');
    const env = standaloneWorkerEnv({ FINGERPRINT_SECRET: undefined });
    const { code, stderr } = await startProcess(join(ROOT, 'dist/worker.js'), [], { env, cwd }).ended;
    expect(code).toBe(78);
    expect(stderr).toContain('got a shell command, in $(…) or backticks, instead of its output');
    expect(stderr).toContain('Run `openssl rand -hex 32` and paste its output.');
  });

  it('is not read by a worker that is started with an argument, such as --help: it starts nothing', async () => {
    const cwd = folderWith('FINGERPRINT_SECRET=$(openssl rand -hex 32)\n');
    const env = standaloneWorkerEnv({ FINGERPRINT_SECRET: undefined });
    const ended = await startProcess(join(ROOT, 'dist/worker.js'), ['--help'], { env, cwd }).ended;
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^Usage: node dist\/worker\.js\n/);
  });

  it('is reported as missing, with its folder, when a variable is missing, and never on stdout', async () => {
    const folder = temporaryFolder();
    const { code, stdout, stderr } = await starterProcess(['orders', '--json'], {}, folder);
    expect(code).toBe(78);
    const advice = `There is no .env in ${realpathSync(folder)}. Create one (see .env.example), or run this in the worker's folder.\n`;
    expect(stderr).toContain(
      `  PARTNER_API_KEY is not set. Set it to the API key that you were given, or PARTNER_API_KEY_FILE `,
    );
    expect(stderr.endsWith(advice)).toBe(true);
    expect(stdout).not.toContain(folder);
    const worker = await startProcess(join(ROOT, 'dist/worker.js'), [], { env: {}, cwd: folder }).ended;
    expect(worker).toMatchObject({ code: 78, stderr: expect.stringContaining(advice) as string });

    const found = await starterProcess(['orders'], {}, folderWith('PARTNER_TIMEOUT=15s\n'));
    expect(found.stderr).toContain('PARTNER_API_KEY is not set.');
    expect(found.stderr).not.toContain('There is no .env');
  });

  it('is ignored if it is a folder, as in Python projects', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.env'));
    const { stderr } = await starterProcess(['status', 'R-1'], { TEMPORAL_PROFILE: 'no-such' }, folder);
    expect(stderr).toContain("Profile 'no-such' not found");
  });
});

it.each<[string, number, string[], ProcessEnv, string]>([
  ['an invalid quantity', 2, ['purchase', 'R-1', '--item', 'a:0'], NOWHERE, 'expected an integer of 1 to 1000, got 0'],
  ["Temporal's own settings", 78, ['status', 'R-1'], { TEMPORAL_PROFILE: 'no-such' }, "Profile 'no-such' not found"],
  ['an impossible lookback', 78, ['schedule', 'create'], { ...NOWHERE, RECONCILE_LOOKBACK: '3d' }, WRONG_LOOKBACK],
  [
    'an unreachable partner',
    1,
    ['products'],
    NO_PARTNER,
    'listProducts: no connection to the partner (ECONNREFUSED)\n',
  ],
])(
  'a real process exits with the cause on stderr and nothing on stdout: %s, %i',
  async (_, code, args, env, message) => {
    const ended = await starterProcess(args, env);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toContain('Temporal does not respond');
  },
);

describe('a process whose server or disk fails', () => {
  it('retries while Temporal does not respond and says so, even when a partner variable is invalid', async () => {
    const running = startStarter(['status', 'R-1'], { ...NOWHERE, PARTNER_TIMEOUT: 'nonsense' });
    await running.said('Temporal does not respond at 127.0.0.1:1, try 1 of 12: connection refused');
    running.signal('SIGKILL');
    expect((await running.ended).stdout).toBe('');
  });

  it('exits with 69 when Temporal stops during a wait, and with the error of the server when it still responds', async () => {
    const server = await startDevServer();
    const inNamespace = (namespace: string) => ({ TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace });
    const elsewhere = await starterProcess(['status', 'R-1'], inNamespace('no-such-namespace'));
    expect(elsewhere).toMatchObject({ code: 78, stdout: '' });
    expect(elsewhere.stderr).toMatch(/^Temporal has no namespace no-such-namespace\. TEMPORAL_NAMESPACE /);
    const schedule = await starterProcess(['schedule', 'create'], inNamespace('no-such-namespace'));
    expect(schedule).toMatchObject({ code: 78, stdout: '', stderr: elsewhere.stderr });

    const args = ['purchase', 'R-1', '--item', 'demo-instant:1', '--wait'];
    const waiting = startStarter(args, inNamespace('default'));
    await waiting.said('waiting for it to finish');
    await server.stop();
    const { code, stdout, stderr } = await waiting.ended;
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toContain('Temporal no longer responds: ');
  });

  const [itWithFullDisk, reason] = existsSync('/dev/full') ? [it, ''] : [it.skip, ' [no /dev/full here]'];
  itWithFullDisk(`exits with 1 when its output can't be written, as on a full disk${reason}`, async () => {
    const command = '"$0" dist/starter.js --help > /dev/full';
    const shell = spawn('sh', ['-c', command, process.execPath], { cwd: ROOT, stdio: 'ignore' });
    expect(await once(shell, 'exit')).toEqual([1, null]);
  });
});
