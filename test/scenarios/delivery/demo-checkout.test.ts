import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { temporaryFolder } from '../../support/clean-up';
import { freePort } from '../../support/free-port';
import { startProcess } from '../../support/processes';
import { TEST_SIGNING_SECRET } from '../../support/settings';

it("the demo's checkout survives a sender that breaks off in the middle of a body, which needs no signature", async () => {
  const [port, secretFile] = [await freePort(), join(temporaryFolder(), 'secret')];
  writeFileSync(secretFile, TEST_SIGNING_SECRET);
  const env = { HOST: '127.0.0.1', PORT: String(port), DELIVERY_SECRET_FILE: secretFile };
  const checkout = startProcess(join(__dirname, '../../../demo/dist/demo/checkout-main.js'), [], { env });
  await checkout.said('waits for events');

  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  await new Promise<void>((resolve) => {
    socket.write('POST /events HTTP/1.1\r\nhost: shop\r\ncontent-length: 100\r\n\r\nabc', () => resolve());
  });
  socket.resetAndDestroy();

  const body = JSON.stringify({ type: 'purchase.failed', data: { referenceId: 'R-1' } });
  const at = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(TEST_SIGNING_SECRET).sign('evt_1', at, body),
  };
  const { status } = await fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', headers, body });
  expect(status).toBe(204);
  await checkout.said('purchase.failed R-1: the signature is right.');
  expect(await checkout.end('SIGTERM')).toBe(0);
});
