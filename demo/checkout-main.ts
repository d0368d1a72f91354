import { readFileSync } from 'node:fs';
import { exitWith, stopSignal } from '../src/exit';
import { type DemoEvent, startDemoCheckout } from './checkout';

/**
 * The demo's checkout alone, as docker-compose.yml runs it: it listens on HOST and PORT, verifies what comes with the secret in
 * DELIVERY_SECRET_FILE, and shows each event once, without its keys.
 */
async function main(): Promise<void> {
  const { HOST: host, PORT: port = '4020', DELIVERY_SECRET_FILE: file } = process.env;
  if (!file) throw new Error('DELIVERY_SECRET_FILE is not set: the file with the secret that signs the events');
  const stopping = stopSignal();
  const secret = readFileSync(file, 'utf8').trim();
  const checkout = await startDemoCheckout(secret, { host, port: Number(port), onEvent: show });
  console.log(`The checkout waits for events on port ${port}.`);
  stopping.addEventListener('abort', () => void checkout.close());
}

function show({ type, referenceId, keys }: DemoEvent): void {
  const received = keys.length > 0 ? `, ${keys.length} keys` : '';
  console.log(`${[type, referenceId].join(' ').trim()}${received}: the signature is right.`);
}

main().catch(exitWith);
