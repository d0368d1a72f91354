import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startTcpServer } from '../support/http-server';
import { freshMachine } from './machine';

test('a host that accepts the connection but never responds is abandoned and does not block the fallback', async () => {
  const machine = await freshMachine();
  const blackHole = await startTcpServer();
  const dir = join(machine.dir, 'draft');
  await mkdir(dir);
  const { code, stderr } = await machine.call('sdk-download.mjs', 'downloadWithSdk', {
    args: [{ kind: 'dev-server', version: '1.5.1' }, join(dir, 'temporal'), null, 6_000],
    env: { HTTPS_PROXY: `http://127.0.0.1:${blackHole.port}` },
  }).ended;
  expect(code).toBe(1);
  expect(stderr).toBe('no response within 6 s');
  expect(blackHole.connections).toBe(1);
});
