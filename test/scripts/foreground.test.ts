import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshMachine, type Machine } from './machine';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));
afterEach(() => machine.dispose());

/** Runs `code` as the program in the foreground. */
function foreground(code: string, options = {}) {
  return machine.call('foreground.mjs', 'runInForeground', { args: [process.execPath, ['-e', code], options] });
}

test('the exit code of the program is handed on', async () => {
  const { stdout } = await foreground('process.exit(3)').ended;
  expect(stdout).toBe('3');
});

test('a program that a signal ended does not look as if all went well', async () => {
  const { stdout } = await foreground("process.kill(process.pid, 'SIGKILL')").ended;
  expect(stdout).toBe('137');
});

test('SIGTERM reaches the program, which may end in good order, and is never the end of the script alone', async () => {
  const run = foreground(`
    process.on('SIGTERM', () => { process.stderr.write('ending well'); process.exit(0); });
    setInterval(() => {}, 1000);
    process.stderr.write('ready');`);
  await run.said('ready');
  run.kill('SIGTERM');
  const { stdout, stderr } = await run.ended;
  expect(stderr).toContain('ending well');
  expect(stdout).toBe('0');
});

test('a program that wrote its report and then hangs is killed and does not hold up a run for ever', async () => {
  const report = join(machine.dir, 'report');
  await writeFile(report, '');
  const { stdout, stderr } = await foreground('setInterval(() => {}, 1000)', { endsSoonAfter: report, mayLingerMs: 1 })
    .ended;
  expect(stdout).toBe('137');
  expect(stderr).toContain('something was left open');
});
