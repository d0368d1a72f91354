import type { Fault, Sandbox } from '../../../sandbox/index';
import { call, ONE, orderBody, poll, place, placed, rawPlace, search, start } from './support';

async function withFault(fault: Omit<Fault, 'operation'>) {
  const setup = await start();
  const active = setup.sandbox.addFault({ operation: 'place', ...fault });
  return { ...setup, active };
}

async function orderCount(sandbox: Sandbox, reference = 'REF-1'): Promise<number> {
  return (await sandbox.ordersOf(reference)).length;
}

/** Status, Retry-After and success of the answer. */
async function answerOf(sandbox: Sandbox): Promise<unknown[]> {
  const { status, headers, body } = await place(sandbox, 'REF-1', ONE);
  return [status, headers.get('retry-after'), body.success];
}

const onWire = (sandbox: Sandbox) => rawPlace(sandbox, 'REF-1');
const untilThree = (part: string) => (sandbox: Sandbox) =>
  rawPlace(sandbox, 'REF-1', (text) => text.split(part).length > 3);
const paused = { status: 429, headers: { 'retry-after': '7' } };

describe.each<['before' | 'after', number]>([
  ['before', 0],
  ['after', 1],
])('a fault %s the commit leaves %i orders', (when, orders) => {
  test.each<[Fault['action'], (sandbox: Sandbox) => Promise<unknown>, seen: unknown]>([
    [{ type: 'reset' }, onWire, { received: '', end: 'reset' }],
    [{ type: 'close' }, onWire, { received: '', end: 'fin' }],
    [{ type: 'answer', ...paused }, answerOf, [429, '7', false]],
    [{ type: 'unsuccessful' }, answerOf, [200, null, false]],
    [{ type: 'drip', everyMs: 1 }, untilThree('1\r\n \r\n'), { end: 'cut by us' }],
    [{ type: 'informational', everyMs: 1 }, untilThree('102 Processing'), { end: 'cut by us' }],
  ])('%j', async (action, look, seen) => {
    const { sandbox } = await withFault({ when, action });
    expect(await look(sandbox)).toMatchObject(seen as object);
    expect(await orderCount(sandbox)).toBe(orders);
  });
});

test('a hung call gets not a byte, is committed or not as it says, and does not keep the sandbox from closing', async () => {
  const { sandbox, active } = await withFault({ when: 'after', action: { type: 'hang' } });
  const hung = rawPlace(sandbox, 'REF-1');
  while (active.hits === 0) await search(sandbox, '');
  expect(await orderCount(sandbox)).toBe(1);
  await sandbox.close();
  expect((await hung).received).toBe('');
});

test('an early fault acts before the body is read, so nothing is known of the order', async () => {
  const { sandbox } = await withFault({ beforeReading: true, action: { type: 'reset' } });
  expect((await rawPlace(sandbox, 'REF-1')).end).toBe('reset');
  expect(sandbox.requests().place).toBe(1);
  expect(sandbox.placeRequestsOf('REF-1')).toBe(0);
});

test.each([
  ['content-length', 'content-length: '],
  ['chunked', 'transfer-encoding: chunked'],
  ['none', 'connection: close'],
] as const)('an answer cut short, framed by %s, ends in the middle of its JSON', async (framing, header) => {
  const { sandbox } = await withFault({ when: 'after', action: { type: 'truncate', framing, bytes: 20 } });
  const { received, end } = await rawPlace(sandbox, 'REF-1');
  expect(received).toContain(header);
  expect(received).toContain('{"status":200,"succe');
  expect(received).not.toContain('"success"');
  expect(end).toBe('fin');
  expect(await orderCount(sandbox)).toBe(1);
});

test('a redirect, another page and other fields of an answer are as they are scripted', async () => {
  const { sandbox } = await start();
  const elsewhere = { location: 'http://127.0.0.1:9/elsewhere' };
  sandbox.addFault({ operation: 'products', action: { type: 'answer', status: 307, headers: elsewhere, body: {} } });
  const { status, headers } = await call(sandbox, '/v1/partners/products');
  expect([status, headers.get('location')]).toEqual([307, elsewhere.location]);

  sandbox.addFault({ operation: 'products', action: { type: 'body', text: '<html>', contentType: 'text/html' } });
  await expect(call(sandbox, '/v1/partners/products')).rejects.toThrow('not valid JSON');

  const id = await placed(sandbox, 'REF-1', ONE);
  sandbox.addFault({ operation: 'keys', when: 'after', action: { type: 'merge', data: { total_debit: 1e21 } } });
  expect(await poll(sandbox, id)).toMatchObject({ id, status: 'COMPLETED', total_debit: 1e21 });
});

test('a delayed call takes effect even though its client has long gone', async () => {
  const { sandbox, active } = await withFault({ action: { type: 'delay', ms: 1_500 } });
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(750);
  const gone = call(sandbox, '/place-order', { method: 'POST', headers, body: orderBody('REF-1', ONE), signal });
  await expect(gone).rejects.toThrow('timeout');
  while ((await orderCount(sandbox)) === 0) await search(sandbox, '');
  expect(active.hits).toBe(1);
});

test.each([
  ['the pages of the history that it waits for', { historyRequests: 2 }],
  ['its time', { ms: 20 }],
])('a late commit is not there when the answer comes, and is there after %s', async (_, after) => {
  const { sandbox } = await withFault({ action: { type: 'answer', status: 500 }, commit: { type: 'late', ...after } });
  expect((await place(sandbox, 'REF-1', ONE)).status).toBe(500);
  expect(await search(sandbox, 'REF-1')).toEqual([]);
  while ((await orderCount(sandbox)) === 0) await search(sandbox, '');
  expect((await sandbox.ledger()).totals).toMatchObject({ orders: 1, debited: 4.99 });
});

test('one request can make two orders, one of other items, or none if the answer names the order of another', async () => {
  const { sandbox } = await withFault({ commit: { type: 'copies', count: 2 } });
  const id = await placed(sandbox, 'REF-1', ONE);
  expect((await sandbox.ordersOf('REF-1')).map((order) => order.id === id)).toEqual([true, false]);

  sandbox.addFault({ operation: 'place', commit: { type: 'same-order-as', referenceId: 'REF-1' } });
  expect(await placed(sandbox, 'REF-2', ONE)).toBe(id);
  expect(await orderCount(sandbox, 'REF-2')).toBe(0);

  sandbox.addFault({ operation: 'place', commit: { type: 'items', items: [{ id: 'demo-never', quantity: 3 }] } });
  const { products } = await poll(sandbox, await placed(sandbox, 'REF-3', ONE));
  expect(products).toMatchObject([{ id: 'demo-never', quantity: 3 }]);
});

test('a fault acts on the nth matching call, so many times, and on no other', async () => {
  const action = { type: 'answer', status: 503 } as const;
  const { sandbox, active } = await withFault({ referenceId: 'REF-1', nth: 2, times: 2, action });
  const statuses = [];
  for (let count = 0; count < 5; count += 1) {
    statuses.push((await place(sandbox, 'REF-2', ONE)).status, (await place(sandbox, 'REF-1', ONE)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 503, 200, 503, 200, 200, 200, 200]);
  expect(active).toMatchObject({ seen: 5, hits: 2 });
});

test('a fault of the history is chosen by what is searched for', async () => {
  const { sandbox } = await start();
  const action = { type: 'answer', status: 500 } as const;
  sandbox.addFault({ operation: 'orders', referenceId: 'REF-1', times: 'always', action });
  const statusOf = async (query: string) => (await call(sandbox, `/v1/partners/orders?query=${query}`)).status;
  const statuses = () => Promise.all(['REF-1', 'REF-1', 'REF-2'].map(statusOf));
  expect(await statuses()).toEqual([500, 500, 200]);
  sandbox.clearFaults();
  expect(await statuses()).toEqual([200, 200, 200]);
});

const HANG = { type: 'hang' };

test.each<[string, unknown]>([
  ['an operation that there is not', { operation: 'pay', action: HANG }],
  ['a field that there is not', { operation: 'place', action: HANG, whne: 'after' }],
  ['a field that the action does not have', { operation: 'place', action: { ...HANG, ms: 1 } }],
  ['nothing to do', { operation: 'place' }],
  ['a reference, though it is early', { operation: 'place', beforeReading: true, referenceId: 'R', action: HANG }],
  ['a late commit without an answer', { operation: 'place', commit: { type: 'late', ms: 1 } }],
  ['a commit of a call that commits nothing', { operation: 'keys', commit: { type: 'copies', count: 2 } }],
])('a fault with %s is refused, so that no test runs without its fault', async (_, fault) => {
  const { sandbox } = await start();
  expect(() => sandbox.addFault(fault as Fault)).toThrow();
});
