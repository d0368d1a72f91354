import { readEnvironment } from './env';
import { startSandbox, type Sandbox } from './index';
import { BadInput } from './input';

const CONFIGURATION = 78;

async function main(): Promise<void> {
  const { past, ...sandboxOptions } = readEnvironment(process.env);
  const sandbox = await startSandbox(sandboxOptions);
  if (past > 0) sandbox.addPastOrders({ count: past });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void sandbox.close().then(() => process.exit(0)));
  }
  process.stdout.write(`${howToTry(sandbox)}\n`);
}

/** Prints only the default API key: a configured one may be in use elsewhere. */
function howToTry({ url, settings }: Sandbox): string {
  const { apiKeys, listPrefix, orderPrefix } = settings();
  const key = `-H 'x-api-key: ${apiKeys[0] === 'sandbox-key' ? 'sandbox-key' : 'YOUR_API_KEY'}'`;
  const order = `{"reference_id":"REF-1","items":[{"id":"demo-seconds","quantity":2}]}`;
  return [
    `The partner sandbox listens on ${url}. Try it:`,
    '',
    '  list the catalogue',
    `    curl ${key} '${url}${listPrefix}/products?query=demo&limit=20'`,
    '  place an order; the response contains its id',
    `    curl ${key} -H 'content-type: application/json' -d '${order}' ${url}${orderPrefix}/place-order`,
    '  get its status, and its keys when it is complete',
    `    curl ${key} ${url}${orderPrefix}/orders/ID/keys`,
    '  list the order history',
    `    curl ${key} '${url}${listPrefix}/orders'`,
    '  see everything ordered, paid for and issued',
    `    curl '${url}/admin/ledger?keys=1'`,
    '',
    'Scenario products, clock and faults: docs/reference/sandbox.md. Press Ctrl-C to stop.',
  ].join('\n');
}

function explain(error: unknown): { message: string; exitCode: number } {
  if (error instanceof BadInput) return { message: error.message, exitCode: CONFIGURATION };
  const { code, message } = error as NodeJS.ErrnoException;
  const { PORT: port = '4010', HOST: host = '127.0.0.1' } = process.env;
  if (code === 'EADDRINUSE') {
    return { message: `port ${port} on ${host} is in use; choose another, such as PORT=4011`, exitCode: 1 };
  }
  return { message: `cannot listen on ${host}, port ${port}: ${message}`, exitCode: 1 };
}

main().catch((error: unknown) => {
  const { message, exitCode } = explain(error);
  process.stderr.write(`sandbox: ${message.replaceAll('\n', '\n         ')}\n`);
  process.exitCode = exitCode;
});
