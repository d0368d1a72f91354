import { poll, place, placed, search, start, type Setup } from './support';

const ONE = { 'demo-instant': 1 };

async function admin({ sandbox }: Setup, method: string, path: string, sent?: unknown) {
  const init = { method, body: JSON.stringify(sent), headers: { connection: 'close' } };
  const response = await fetch(`${sandbox.url}/admin/${path}`, init);
  return { status: response.status, body: (await response.json()) as unknown };
}

test('the ledger shows by reference what was bought and paid, and the keys only when asked', async () => {
  const setup = await start({ balance: 50 });
  const id = await placed(setup.sandbox, 'REF-1', { 'demo-instant': 2 });
  await placed(setup.sandbox, 'REF-2', { 'demo-never': 1 });

  const { body } = await admin(setup, 'GET', 'books');
  const byStatus = ['COMPLETED', 'PENDING'].map((status) => ({ status, orders: 1 }));
  const order = { origin: 'api', createdAt: '2030-01-01T12:00:00.000Z', refunded: 0, debited: 9.98, keysIssued: 2 };
  const items = [{ id: 'demo-instant', quantity: 2, keysIssued: 2 }];
  expect(body).toEqual({
    opening: 50,
    balance: 36.03,
    creditLimit: 10_000,
    totals: { orders: 2, references: 2, debited: 13.97, refunded: 0, keysIssued: 2, byStatus },
    references: [
      { referenceId: 'REF-1', orders: [{ ...order, id, referenceId: 'REF-1', status: 'COMPLETED', items }] },
      { referenceId: 'REF-2', orders: [expect.objectContaining({ status: 'PENDING', keysIssued: 0 })] },
    ],
  });

  const { products } = await poll(setup.sandbox, id);
  const withKeys = JSON.stringify((await admin(setup, 'GET', 'books?keys=1')).body);
  for (const { value } of products[0]?.keys ?? []) expect(withKeys).toContain(value);
  expect(JSON.stringify(body)).not.toContain(products[0]?.keys[0]?.value);
});

test('requests are counted as they arrive, and their log never holds the API key', async () => {
  const setup = await start();
  await placed(setup.sandbox, 'REF-1', ONE);
  await place(setup.sandbox, 'REF-1', { 'no-such-product': 1 });
  await search(setup.sandbox, 'REF-1');

  const { body } = await admin(setup, 'GET', 'requests?log=1');
  expect(body).toMatchObject({
    ...{ place: 2, orders: 1, keys: 0, products: 0, unknown: 0 },
    placedByReference: [{ referenceId: 'REF-1', requests: 2 }],
    log: [
      { connection: 1, method: 'POST', path: '/place-order', operation: 'place', referenceId: 'REF-1' },
      { connection: 2, method: 'POST' },
      { connection: 3, method: 'GET', path: '/v1/partners/orders?query=REF-1', operation: 'orders' },
    ],
  });
  expect(JSON.stringify(body)).toContain('x-api-key');
  expect(JSON.stringify(body)).not.toContain('sandbox-key');
});

test('faults, clock and settings can be worked over HTTP, from any language', async () => {
  const setup = await start();
  const id = await placed(setup.sandbox, 'REF-1', { 'demo-slow': 1 });
  await admin(setup, 'POST', 'clock', { advanceMs: 1_200_000 });
  expect((await poll(setup.sandbox, id)).status).toBe('COMPLETED');

  const fault = { operation: 'place', action: { type: 'answer', status: 503 }, times: 'always' };
  expect((await admin(setup, 'POST', 'faults', fault)).body).toMatchObject({ id: 1, hits: 0 });
  expect((await place(setup.sandbox, 'REF-2', ONE)).status).toBe(503);
  expect((await admin(setup, 'GET', 'faults')).body).toMatchObject([{ id: 1, hits: 1 }]);
  await admin(setup, 'DELETE', 'faults');
  expect((await place(setup.sandbox, 'REF-2', ONE)).status).toBe(200);

  const { body } = await admin(setup, 'POST', 'settings', { search: 'ignored', apiKeys: ['rotated-key'] });
  expect(body).toMatchObject({ search: 'ignored', apiKeys: 1 });
  expect((await place(setup.sandbox, 'REF-3', ONE)).status).toBe(401);
});

test.each<[string, unknown, ...string[]]>([
  ['settings', { serach: 'ignored' }, 'serach: unknown'],
  ['settings', { search: 'off', perLookMs: -1, spede: 2, speed: 9 }, 'search: ', 'perLookMs: ', 'spede: '],
  ['settings', { listPrefix: '/admin' }, 'listPrefix'],
  ['faults', { operation: 'place' }, 'needs an action'],
  ['clock', { advanceMs: -1 }, 'advanceMs'],
  ['orders', { referenceId: 'R', items: [] }, 'items'],
  ['orders', { referenceId: 'R', items: [{ id: 'demo-out-of-stock', quantity: 1 }] }, 'insufficient_stock'],
  ['orders', { referenceId: 'R', items: [{ id: 'demo-instant', quantity: 1 }], createdAt: '2031-01-01' }, 'createdAt'],
  ['history', { count: 0 }, 'count'],
])('POST /admin/%s refuses %j, says all that is wrong, and none of it takes effect', async (path, sent, ...wrong) => {
  const setup = await start();
  const before = setup.sandbox.settings();
  const { status, body } = await admin(setup, 'POST', path, sent);
  expect(status).toBe(400);
  for (const why of wrong) expect(body).toEqual({ error: expect.stringContaining(why) });
  expect(setup.sandbox.settings()).toEqual(before);
  expect((await setup.sandbox.ledger()).totals.orders).toBe(0);
});

test('a manual order may lie in the past, and is then as old as that', async () => {
  const setup = await start();
  const createdAt = '2030-01-01T11:30:00.000Z';
  const order = { referenceId: 'hand', items: [{ id: 'demo-slow', quantity: 1 }], createdAt };
  const { body } = await admin(setup, 'POST', 'orders', order);
  expect(body).toMatchObject({ origin: 'hand', status: 'COMPLETED', createdAt, debited: 19.99 });
  expect(setup.sandbox.requests().place).toBe(0);
});

test('a forced status moves the money with it and is not undone by the clock', async () => {
  const setup = await start({ balance: 100 });
  const id = await placed(setup.sandbox, 'REF-1', { 'demo-slow': 2 });
  const steps = [];
  for (const status of ['COMPLETED', 'REFUNDED', 'FAILED', 'PENDING', 'PARTIAL_COMPLETED', 'ON_FIRE']) {
    await admin(setup, 'PATCH', `orders/${id}`, { status });
    setup.sandbox.advance(86_400_000);
    const { status: shown, balance, products } = await poll(setup.sandbox, id);
    steps.push([shown, balance.balance, products[0]?.keys.length]);
  }
  expect(steps).toEqual([
    ['COMPLETED', 60.02, 2],
    ['REFUNDED', 100, 0],
    ['FAILED', 100, 0],
    ['PENDING', 60.02, 0],
    ['PARTIAL_COMPLETED', 80.01, 1],
    ['ON_FIRE', 60.02, 0],
  ]);
});

test('keys and the shown debit of an order can be replaced, to make one key appear in two orders', async () => {
  const setup = await start();
  const ids = [await placed(setup.sandbox, 'REF-1', ONE), await placed(setup.sandbox, 'REF-2', ONE)];
  for (const id of ids) await admin(setup, 'PATCH', `orders/${id}`, { keys: [['SAME']], shownDebit: 1.23 });
  for (const id of ids) {
    const { products, total_debit: debit } = await poll(setup.sandbox, id);
    expect([products[0]?.keys, debit]).toEqual([[{ type: 'text', value: 'SAME' }], 1.23]);
  }
  expect((await setup.sandbox.ledger()).totals).toMatchObject({ debited: 9.98, keysIssued: 2 });
});

test('an order stays out of the history for as many requests as the lag says, or for as long', async () => {
  const { sandbox, time } = await start({ historyLagRequests: 2 });
  await placed(sandbox, 'REF-1', ONE);
  const seen = [await search(sandbox, 'REF-1'), await search(sandbox, ''), await search(sandbox, 'REF-1')];
  expect(seen).toEqual([[], [], ['REF-1']]);

  sandbox.settings({ historyLagRequests: 0, historyLagMs: 5_000 });
  await placed(sandbox, 'REF-2', ONE);
  expect(await search(sandbox, 'REF-2')).toEqual([]);
  time.nowMs += 5_000;
  expect(await search(sandbox, 'REF-2')).toEqual(['REF-2']);
});

test('a search can be fuzzy or ignored, so that a client must compare for itself', async () => {
  const { sandbox } = await start();
  for (const reference of ['REF-1', 'REF-10', 'OTHER']) await placed(sandbox, reference, ONE);
  expect(await search(sandbox, 'REF-1')).toEqual(['REF-1']);
  sandbox.settings({ search: 'fuzzy' });
  expect((await search(sandbox, 'REF-1')).sort()).toEqual(['REF-1', 'REF-10']);
  sandbox.settings({ search: 'ignored' });
  expect((await search(sandbox, 'REF-1')).sort()).toEqual(['OTHER', 'REF-1', 'REF-10']);
});

test('pages can shift while they are read, so that the last order of one page is the first of the next', async () => {
  const { sandbox, time } = await start({ historyShift: 1 });
  for (const reference of ['A', 'B', 'C', 'D']) {
    time.nowMs += 1;
    await placed(sandbox, reference, ONE);
  }
  expect([await search(sandbox, '&limit=2&page=1'), await search(sandbox, '&limit=2&page=2')]).toEqual([
    ['D', 'C'],
    ['C', 'B'],
  ]);
});

test('a page can hold fewer than are asked for, and a row can show what no row should, the other rows being right', async () => {
  const setup = await start({ historyPageLimit: 2 });
  const ids = [await placed(setup.sandbox, 'A', ONE), await placed(setup.sandbox, 'B', ONE)];
  await placed(setup.sandbox, 'C', ONE);
  await admin(setup, 'PATCH', `orders/${ids[1]}`, { shownRow: { reference_id: 7 } });
  expect([await search(setup.sandbox, '&limit=500&page=1'), await search(setup.sandbox, '&limit=500&page=2')]).toEqual([
    ['C', 7],
    ['A'],
  ]);
});

test('a history of 20,000 orders is read page by page, each order once, without touching today’s balance', async () => {
  const setup = await start();
  expect((await admin(setup, 'POST', 'history', { count: 20_000, days: 10 })).body).toEqual({ added: 20_000 });

  const references = new Set<string>();
  for (let page = 1; page <= 40; page += 1) {
    for (const reference of await search(setup.sandbox, `&limit=500&page=${page}`)) references.add(reference);
  }
  expect(references.size).toBe(20_000);
  expect(await search(setup.sandbox, 'past-12345')).toEqual(['past-12345']);

  const { balance, opening, totals } = await setup.sandbox.ledger();
  expect(balance).toBe(100_000);
  expect(opening - totals.debited + totals.refunded).toBeCloseTo(balance, 5);
  const statuses = totals.byStatus.map(({ status }) => status).sort();
  expect(statuses).toEqual(['COMPLETED', 'FAILED', 'PARTIAL_COMPLETED', 'REFUNDED']);
});
