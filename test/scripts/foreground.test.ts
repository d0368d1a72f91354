import { spawnSync } from 'node:child_process';
import { waitUntil } from '../support/wait-until';
import { freshMachine, type Machine } from './machine';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

/** Runs `code` as the program in the foreground. */
function foreground(code: string, options = {}) {
  const args = [process.execPath, ['-e', code], { stdio: 'inherit', ...options }];
  return machine.call('foreground.mjs', 'runInForeground', { args });
}

test.each([
  ['its exit code', 'process.exit(3)', '3'],
  ['a code that is not 0 when a signal ended it', "process.kill(process.pid, 'SIGKILL')", '137'],
])('a program hands on %s', async (_what, code, handedOn) => {
  expect((await foreground(code).ended).stdout).toBe(handedOn);
});

test('SIGTERM reaches the program, which may end in good order, and is never the end of the script alone', async () => {
  const run = foreground(`
    process.on('SIGTERM', () => { process.stderr.write('ending well'); process.exit(0); });
    setInterval(() => {}, 1000);
    process.stderr.write('ready');`);
  await run.said('ready');
  run.signal('SIGTERM');
  const { stdout, stderr } = await run.ended;
  expect(stderr).toContain('ending well');
  expect(stdout).toBe('0');
});

test.each<[string, string, NodeJS.Signals | undefined, string]>([
  ['a signal', 'setInterval(() => {}, 1000)', 'SIGTERM', '143'],
  ['its own end', 'process.exit(0)', undefined, '0'],
])('after %s no process is left of a program with a group of its own', async (_what, ending, signal, exitCode) => {
  const run = foreground(
    `
    const { pid } = require('node:child_process').spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
    require('node:fs').writeSync(2, 'started ' + pid + '.');
    ${ending};`,
    { detached: true },
  );
  await run.said('started ');
  if (signal) run.signal(signal);
  const { stdout, stderr } = await run.ended;
  const started = Number(/started (\d+)/.exec(stderr)?.[1]);
  expect(stdout).toBe(exitCode);
  await waitUntil('it has ended', () => !isRunning(started), { withinMs: 5_000 });
});

/** A process that has ended, and that nobody has waited for yet, counts as ended. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}
