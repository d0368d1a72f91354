import { ONE, place, placed, poll, search, start, type Setup } from './support';

async function admin({ sandbox }: Setup, method: string, path: string, sent?: unknown) {
  const init = { method, body: JSON.stringify(sent), headers: { connection: 'close' } };
  const response = await fetch(`${sandbox.url}/admin/${path}`, init);
  return { status: response.status, body: (await response.json()) as unknown };
}

test('the ledger shows orders and payments by reference, and shows keys only on request', async () => {
  const setup = await start({ balance: 50 });
  const id = await placed(setup.sandbox, 'REF-1', { 'demo-instant': 2 });
  await placed(setup.sandbox, 'REF-2', { 'demo-never': 1 });

  const { body } = await admin(setup, 'GET', 'ledger');
  const byStatus = ['COMPLETED', 'PENDING'].map((status) => ({ status, orders: 1 }));
  const order = { id, status: 'COMPLETED', debited: 9.98, refunded: 0, keysIssued: 2 };
  expect(body).toMatchObject({
    balance: 36.03,
    totals: { orders: 2, references: 2, debited: 13.97, refunded: 0, keysIssued: 2, byStatus },
    references: [{ referenceId: 'REF-1', orders: [order] }, { referenceId: 'REF-2' }],
  });

  const { products } = await poll(setup.sandbox, id);
  const withKeys = JSON.stringify((await admin(setup, 'GET', 'ledger?keys=1')).body);
  for (const { value } of products[0]?.keys ?? []) expect(withKeys).toContain(value);
  expect(JSON.stringify(body)).not.toContain(products[0]?.keys[0]?.value);
});

test('requests are counted as they arrive, and their log never contains the API key', async () => {
  const setup = await start();
  await placed(setup.sandbox, 'REF-1', ONE);
  await place(setup.sandbox, 'REF-1', { 'no-such-product': 1 });
  await search(setup.sandbox, 'REF-1');

  const { body } = await admin(setup, 'GET', 'requests?log=1');
  const counted = { place: 2, orders: 1, keys: 0, products: 0, unknown: 0 };
  const first = { connection: 1, method: 'POST', path: '/place-order', operation: 'place', referenceId: 'REF-1' };
  expect(body).toMatchObject({ ...counted, placedByReference: [{ referenceId: 'REF-1', requests: 2 }] });
  expect(body).toMatchObject({ log: [first, { connection: 2 }, { path: '/v1/partners/orders?query=REF-1' }] });
  expect(JSON.stringify(body)).toContain('x-api-key');
  expect(JSON.stringify(body)).not.toContain('sandbox-key');
});

test('faults, clock and settings can be controlled over HTTP, from any language', async () => {
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
  ['settings', { search: 'off', agePerPollMs: -1, spede: 2, speed: 9 }, 'search: ', 'agePerPollMs: ', 'spede: unknown'],
  ['settings', { listPrefix: '/admin' }, 'listPrefix'],
  ['faults', { operation: 'place' }, 'needs an action'],
  ['clock', { advanceMs: -1 }, 'advanceMs'],
  ['orders', { referenceId: 'R', items: [{ id: 'demo-out-of-stock', quantity: 1 }] }, 'insufficient_stock'],
  ['orders', { referenceId: 'R', items: [{ id: 'demo-instant', quantity: 1 }], createdAt: '2031-01-01' }, 'createdAt'],
  ['history', { count: 0 }, 'count'],
])('POST /admin/%s rejects %j, reports every error, and applies nothing', async (path, sent, ...wrong) => {
  const setup = await start();
  const before = setup.sandbox.settings();
  const { status, body } = await admin(setup, 'POST', path, sent);
  expect(status).toBe(400);
  for (const reason of wrong) expect(body).toEqual({ error: expect.stringContaining(reason) });
  expect(setup.sandbox.settings()).toEqual(before);
  expect((await setup.sandbox.ledger()).totals.orders).toBe(0);
});

test('an order stays out of the history for the configured number of requests or time', async () => {
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

test('a search can be fuzzy or ignored, so that a client has to compare references itself', async () => {
  const { sandbox } = await start();
  for (const reference of ['REF-1', 'REF-10', 'OTHER']) await placed(sandbox, reference, ONE);
  expect(await search(sandbox, 'REF-1')).toEqual(['REF-1']);
  sandbox.settings({ search: 'fuzzy' });
  expect((await search(sandbox, 'REF-1')).sort()).toEqual(['REF-1', 'REF-10']);
  sandbox.settings({ search: 'ignored' });
  expect((await search(sandbox, 'REF-1')).sort()).toEqual(['OTHER', 'REF-1', 'REF-10']);
});

test('pages can shift while they are read, and can have fewer rows than requested', async () => {
  const { sandbox, time } = await start();
  for (const reference of ['A', 'B', 'C', 'D']) {
    time.nowMs += 1;
    await placed(sandbox, reference, ONE);
  }
  const page = (limit: number, number: number) => search(sandbox, `&limit=${limit}&page=${number}`);
  sandbox.settings({ historyPageLimit: 3 });
  expect([await page(500, 1), await page(500, 2)]).toEqual([['D', 'C', 'B'], ['A']]);
  sandbox.settings({ historyShift: 1 });
  const shifted = [await page(2, 1), await page(2, 2)];
  expect(shifted.map((rows) => rows.join())).toEqual(['D,C', 'C,B']);
});
