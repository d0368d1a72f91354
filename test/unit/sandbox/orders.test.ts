import { call, ONE, poll, place, placed, start } from './support';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Status and number of keys of an order at each age. */
async function statusesAt(items: Record<string, number>, agesMs: number[]): Promise<string[]> {
  const { sandbox } = await start();
  const id = await placed(sandbox, 'REF-1', items);
  const seen: string[] = [];
  let age = 0;
  for (const next of agesMs) {
    sandbox.advance(next - age);
    age = next;
    const { status, products } = await poll(sandbox, id);
    seen.push(`${status} ${products.map(({ keys }) => keys.length).join('+')}`);
  }
  return seen;
}

test.each<[string, number[], string[]]>([
  ['demo-instant', [0], ['COMPLETED 4']],
  ['demo-seconds', [0, 5 * SECOND, 8 * SECOND], ['PENDING 0', 'PROCESSING 0', 'COMPLETED 4']],
  ['demo-slow', [2 * MINUTE - 1, 2 * MINUTE, 20 * MINUTE], ['PENDING 0', 'PROCESSING 0', 'COMPLETED 4']],
  ['demo-partial', [0, 10 * SECOND, 600 * MINUTE], ['PENDING 0', 'PARTIAL_COMPLETED 2', 'PARTIAL_COMPLETED 2']],
  ['demo-refunded', [0, 10 * SECOND], ['PENDING 0', 'REFUNDED 0']],
  ['demo-failed', [0, 10 * SECOND], ['PENDING 0', 'FAILED 0']],
  ['demo-image', [10 * SECOND], ['COMPLETED 4']],
  ['demo-short', [10 * SECOND, 600 * MINUTE], ['COMPLETED 3', 'COMPLETED 3']],
  ['demo-strange', [0, 30 * SECOND, 2 * MINUTE], ['PENDING 0', 'AWAITING_SUPPLIER 0', 'COMPLETED 4']],
  ['demo-late', [25 * MINUTE, 60 * MINUTE - 1, 60 * MINUTE], ['PROCESSING 0', 'PROCESSING 0', 'COMPLETED 4']],
  ['demo-never', [0, 10_000 * MINUTE], ['PENDING 0', 'PENDING 0']],
  ['demo-flapping', [0, 50 * SECOND, 100 * SECOND], ['PENDING 0', 'PROCESSING 0', 'PENDING 0']],
  ['demo-partial-then-complete', [10 * SECOND, 15 * MINUTE], ['PARTIAL_COMPLETED 2', 'COMPLETED 4']],
  ['demo-complete-then-refunded', [10 * SECOND, 15 * MINUTE], ['COMPLETED 4', 'REFUNDED 0']],
  ['demo-extra', [10 * SECOND], ['COMPLETED 5']],
])('%s behaves as its name says', async (product, ages, expected) => {
  expect(await statusesAt({ [product]: 4 }, ages)).toEqual(expected);
});

test('an order of several products is open while one of them is, partial if one failed, and refunded if none has keys', async () => {
  const later = [10 * SECOND];
  const both = await statusesAt({ 'demo-instant': 1, 'demo-slow': 2 }, [0, 20 * MINUTE]);
  expect(both).toEqual(['PROCESSING 0+0', 'COMPLETED 1+2']);
  expect(await statusesAt({ 'demo-instant': 1, 'demo-failed': 2 }, later)).toEqual(['PARTIAL_COMPLETED 1+0']);
  expect(await statusesAt({ 'demo-refunded': 1, 'demo-failed': 1 }, later)).toEqual(['REFUNDED 0+0']);
});

test('a faster clock ages orders but does not change the time of day', async () => {
  const { sandbox, time } = await start({ speed: 60 });
  const id = await placed(sandbox, 'REF-1', { 'demo-slow': 1 });
  time.nowMs += 20 * SECOND;
  const { details } = (await call(sandbox, `/orders/${id}/keys`)).body;
  expect([details.data.status, details.extensions.timestamp]).toEqual(['COMPLETED', '2030-01-01T12:00:20.000Z']);
});

test('no key is ever issued twice, and the same seed yields the same keys', async () => {
  const issue = async (): Promise<string[]> => {
    const { sandbox } = await start({ balance: 1_000_000 });
    for (let count = 0; count < 20; count += 1) await placed(sandbox, 'SAME', { 'demo-instant': 500 });
    const orders = await sandbox.ordersOf('SAME');
    return orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value)));
  };
  const keys = await issue();
  expect(new Set(keys).size).toBe(10_000);
  expect(await issue()).toEqual(keys);
});

test('simultaneous orders cannot overdraw the account', async () => {
  const { sandbox } = await start({ balance: 20, creditLimit: 5 });
  const placing = Array.from({ length: 7 }, (_, at) => place(sandbox, `REF-${at}`, ONE));
  const statuses = (await Promise.all(placing)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 200, 200, 200, 402, 402]);
  expect(await sandbox.ledger()).toMatchObject({ balance: -4.95, totals: { orders: 5, debited: 24.95 } });
});
