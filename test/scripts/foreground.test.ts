import { freshMachine, type Machine } from './machine';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));
afterEach(() => machine.dispose());

/** Runs `code` as the program in the foreground. */
function foreground(code: string) {
  const args = [process.execPath, ['-e', code], { stdio: 'inherit' }];
  return machine.call('foreground.mjs', 'runInForeground', { args });
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
