import { join } from 'node:path';
import { type RunningProcess, startProcess } from '../../support/processes';
import { start } from './support';

function run(env: Record<string, string>): RunningProcess {
  return startProcess(join(__dirname, '../../../sandbox/dist/main.js'), [], { env });
}

async function announced(running: RunningProcess): Promise<string> {
  await running.said('Ctrl-C');
  return running.output();
}

test.each(['SIGTERM', 'SIGINT'] as const)('it prints how to try it, and exits with 0 on %s', async (signal) => {
  const running = run({ PORT: '0', SANDBOX_PAST: '10' });
  const text = await announced(running);
  const url = /listens on (\S+)\. /.exec(text)?.[1];
  expect(text).toContain(`-H 'x-api-key: sandbox-key'`);
  const paths = ['/v1/partners/products', '/place-order', '/orders/ID/keys', '/v1/partners/orders', '/admin/ledger'];
  for (const path of paths) expect(text).toContain(`${url}${path}`);
  expect(await running.end(signal)).toBe(0);
});

test('a configured API key is not printed', async () => {
  expect(await announced(run({ PORT: '0', SANDBOX_API_KEY: 'chosen-elsewhere' }))).not.toContain('chosen-elsewhere');
});

test('all invalid variables are reported at once, with exit code 78', async () => {
  const others = { SANDBOX_SPEED: 'fast', SANDBOX_AGE_PER_POLL: '30', SANDBOX_SPEDE: '2', SANDBOX_SEARCH: 'off' };
  const wrong = { PORT: '99999', ...others };
  const { code, stderr } = await run(wrong).ended;
  expect(code).toBe(78);
  for (const name of Object.keys(wrong)) expect(stderr).toContain(`${name}: `);
});

test('a port in use is reported in a sentence, not as a stack trace', async () => {
  const { sandbox } = await start();
  const { code, stderr } = await run({ PORT: String(sandbox.port) }).ended;
  expect(code).toBe(1);
  expect(stderr).toBe(`sandbox: port ${sandbox.port} on 127.0.0.1 is in use; choose another, such as PORT=4011\n`);
});
