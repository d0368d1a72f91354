import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/command';
import { startDevServer } from '../../support/dev-server';
import { type ProcessEnv, starterProcess, startStarter } from '../../support/processes';

const ROOT = join(__dirname, '../../..');

/** Nothing listens there, so a command fails in another way if it contacts the server before it has read its arguments. */
const NOWHERE = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
const NO_PARTNER = { PARTNER_BASE_URL: 'http://127.0.0.1:1', PARTNER_API_KEY: 'k' };
const WRONG_LOOKBACK = 'RECONCILE_LOOKBACK: expected a duration from 1m to 8760h, written with ms, s, m or h';

describe('what is typed wrongly is exit code 2 and one message, and nothing is contacted', () => {
  it.each([
    ['no command', [], 'Usage: starter'],
    ['an unknown command shows which there are', ['buy', 'R-1'], 'redeliver [options] <reference>'],
    ['no item', ['purchase', 'R-1'], "required option '--item <product:quantity>'"],
    ['an item without a quantity', ['purchase', 'R-1', '--item', 'steam-50'], 'expected PRODUCT:QUANTITY such as'],
    ['half a key', ['purchase', 'R-1', '--item', 'a:1.5'], 'expected PRODUCT:QUANTITY such as'],
    ['no key', ['purchase', 'R-1', '--item', 'a:0'], 'expected an integer of 1 to 1000, got 0'],
    ['too many keys', ['purchase', 'R-1', '--item', 'a:1001'], 'expected an integer of 1 to 1000, got 1001'],
    ['a product twice', ['purchase', 'R-1', '--item', 'a:1', '--item', 'a:2'], '"a" is listed twice'],
    ['a sum below nothing', ['purchase', 'R-1', '--item', 'a:1', '--max-debit=-1'], 'expected a number from 0'],
    ['a reference with a blank', ['purchase', 'R 1', '--item', 'a:1'], 'expected 1 to 100 of A-Z a-z 0-9'],
    ['a reference too long', ['status', 'R'.repeat(101)], 'expected 1 to 100 of A-Z a-z 0-9'],
    ['no decision', ['resolve', 'R-1'], 'expected exactly one of --order ID, --replace'],
    ['two decisions', ['resolve', 'R-1', '--replace', '--abandon'], 'got --replace and --abandon'],
    ['an order id that would change a path', ['resolve', 'R-1', '--order', '../x'], 'expected the id of an order'],
    ['an unknown sort', ['products', '--sort', 'CHEAPEST'], 'Allowed choices are DATE_DESC'],
    ['page zero', ['orders', '--page', '0'], 'expected a whole number from 1, got 0'],
    ['products per page that the partner has not', ['products', '--limit', '501'], 'from 1 to 500, got 501'],
    ['orders per page that it has not', ['orders', '--all', '--limit', '501'], 'from 1 to 500, got 501'],
    ['a search for nothing', ['orders', '--search', ''], 'expected an order id or a reference, got nothing'],
    ['an unknown option', ['status', 'R-1', '--verbose'], "unknown option '--verbose'"],
  ])('%s', async (_, args, message) => {
    const { code, printed, said } = await runCommand(args);
    expect(said).toContain(message);
    expect({ code, printed }).toEqual({ code: 2, printed: '' });
  });

  it('prints the error as the one document on stdout where a program asked for JSON', async () => {
    const { code, stdout } = await starterProcess(['resolve', 'R-1', '--json'], NOWHERE);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { name: 'StarterError', message: expect.stringContaining('expected exactly one of') as string },
    });
  });
});

it.each<[string, number, string[], ProcessEnv, string]>([
  ['typed wrongly', 2, ['purchase', 'R-1', '--item', 'a:0'], NOWHERE, 'expected an integer of 1 to 1000, got 0'],
  ["Temporal's own settings", 78, ['status', 'R-1'], { TEMPORAL_PROFILE: 'no-such' }, "Profile 'no-such' not found"],
  ['an impossible look-back', 78, ['schedule', 'create'], { ...NOWHERE, RECONCILE_LOOKBACK: '3d' }, WRONG_LOOKBACK],
  [
    'a partner that is away',
    1,
    ['products'],
    NO_PARTNER,
    'listProducts: no connection to the partner (ECONNREFUSED)\n',
  ],
])(
  'a real process ends with the cause on stderr and nothing on stdout: %s, %i',
  async (_, code, args, env, message) => {
    const ended = await starterProcess(args, env);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toContain('Temporal does not answer');
  },
);

describe('servers that do not answer', () => {
  it('begins the trying in the real process and says so, and no wrong variable of the partner keeps it from that', async () => {
    const running = startStarter(['status', 'R-1'], { ...NOWHERE, PARTNER_TIMEOUT: 'nonsense' });
    await running.said('Temporal does not answer at 127.0.0.1:1, try 1 of 12: connection refused');
    running.signal('SIGKILL');
    expect((await running.ended).stdout).toBe('');
  });

  it('ends with 69 when Temporal goes away in the middle, with what the server said otherwise', async () => {
    const server = await startDevServer();
    const inNamespace = (namespace: string) => ({ TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace });
    const elsewhere = await starterProcess(['status', 'R-1'], inNamespace('no-such-namespace'));
    expect(elsewhere).toMatchObject({ code: 1, stdout: '', stderr: "Namespace not found: 'no-such-namespace'\n" });

    const args = ['purchase', 'R-1', '--item', 'demo-instant:1', '--wait'];
    const waiting = startStarter(args, inNamespace('default'));
    await waiting.said('waiting for its end');
    await server.stop();
    const { code, stdout, stderr } = await waiting.ended;
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toContain('Temporal no longer answers: ');
  }, 120_000);

  const [itWithFullDisk, reason] = existsSync('/dev/full') ? [it, ''] : [it.skip, ' [no /dev/full here]'];
  itWithFullDisk(`ends with 1 when what it prints can't be written, as on a full disk${reason}`, async () => {
    const command = '"$0" dist/starter.js --help > /dev/full';
    const shell = spawn('sh', ['-c', command, process.execPath], { cwd: ROOT, stdio: 'ignore' });
    expect(await once(shell, 'exit')).toEqual([1, null]);
  });
});
