import { readFileSync } from 'node:fs';
import { exitWith, stopSignal } from '../src/exit';
import { type DemoEvent, startDemoCheckout } from './checkout';

/**
 * Runs the demo's checkout alone, as docker-compose.yml does. It listens on HOST and PORT, verifies each event with
 * the secret in DELIVERY_SECRET_FILE, and prints it once, without its keys.
 */
async function main(): Promise<void> {
  const { HOST: host, PORT: port = '4020', DELIVERY_SECRET_FILE: file } = process.env;
  if (!file) throw new Error('Set DELIVERY_SECRET_FILE to the file that contains the secret for signing events.');
  const stopping = stopSignal();
  const secret = readFileSync(file, 'utf8').trim();
  const checkout = await startDemoCheckout(secret, { host, port: Number(port), onEvent: show });
  console.log(`The checkout listens on port ${port}.`);
  stopping.addEventListener('abort', () => void checkout.close());
}

function show({ type, referenceId, keys }: DemoEvent): void {
  const count = keys.length > 0 ? `, ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}` : '';
  console.log(`${[type, referenceId].join(' ').trim()}${count}: signature verified`);
}

main().catch(exitWith);
