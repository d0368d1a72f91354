import { spawnSync } from 'node:child_process';
import { waitUntil } from '../support/wait-until';
import { freshMachine, type Machine } from './machine';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

function foreground(code: string, options = {}) {
  const args = [process.execPath, ['-e', code], { stdio: 'inherit', ...options }];
  return machine.call('foreground.mjs', 'runInForeground', { args });
}

test.each([
  ['its exit code', 'process.exit(3)', '3'],
  ['a code other than 0 if a signal ended it', "process.kill(process.pid, 'SIGKILL')", '137'],
])('a foreground program passes on %s', async (_what, code, handedOn) => {
  expect((await foreground(code).ended).stdout).toBe(handedOn);
});

test('SIGTERM reaches the program, so that it can shut down cleanly, and never ends the script alone', async () => {
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
  ['SIGTERM', 'setInterval(() => {}, 1000)', 'SIGTERM', '143'],
  ['its own end', 'process.exit(0)', undefined, '0'],
])('no process of a program with its own group survives %s', async (_what, ending, signal, exitCode) => {
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
  await waitUntil('it has ended', () => !isRunning(started));
});

/** Zombie processes count as ended. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}
