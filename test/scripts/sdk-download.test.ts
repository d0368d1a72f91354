import { mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { freshMachine, type Machine } from './machine';

let machine: Machine;
let blackHole: Server;
const callers = new Set<Socket>();

beforeEach(async () => {
  machine = await freshMachine();
  blackHole = createServer((socket) => callers.add(socket));
  await new Promise<void>((resolve) => blackHole.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of callers) socket.destroy();
  callers.clear();
  await new Promise((resolve) => blackHole.close(resolve));
});

test('a host that takes the connection and never answers is given up, and does not hold up the fallback', async () => {
  const dir = join(machine.dir, 'draft');
  await mkdir(dir);
  const { code, stderr } = await machine.call('sdk-download.mjs', 'downloadWithSdk', {
    args: [{ kind: 'dev-server', version: '1.5.1' }, join(dir, 'temporal'), null, 6_000],
    env: { HTTPS_PROXY: `http://127.0.0.1:${(blackHole.address() as AddressInfo).port}` },
  }).ended;
  expect(code).toBe(1);
  expect(stderr).toBe('no answer within 6 s');
  expect(callers.size).toBe(1);
});
