import { call, type Data, poll, orderBody, place, placed, search, start } from './support';

const PRODUCTS = '/v1/partners/products';
const ORDERS = '/v1/partners/orders';

type Product = Data['products'][number];

async function products(query: string, catalogue?: Awaited<ReturnType<typeof start>>): Promise<Product[]> {
  const { sandbox } = catalogue ?? (await start());
  return (await call(sandbox, `${PRODUCTS}?${query}`)).body.details.data.products;
}

test('every answer has the documented envelope, and only the lists say that they are not cached', async () => {
  const { sandbox } = await start();
  const answers = [
    await call(sandbox, PRODUCTS),
    await call(sandbox, ORDERS),
    await place(sandbox, 'REF-1', { 'demo-instant': 1 }),
  ];
  answers.push(await call(sandbox, `/orders/${answers[2]?.body.details.data.id}/keys`));

  const extensions = answers.map(({ body }) => body.details.extensions);
  for (const { body } of answers) expect(body).toMatchObject({ status: 200, success: true });
  for (const { trace_id, timestamp } of extensions) {
    expect(trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(timestamp).toBe('2030-01-01T12:00:00.000Z');
  }
  expect(new Set(extensions.map(({ trace_id }) => trace_id)).size).toBe(4);
  expect(extensions.map(({ cache }) => cache)).toEqual(['no-store', 'no-store', undefined, undefined]);
});

test('a product has exactly the documented fields', async () => {
  const [product] = await products('query=demo-instant');
  expect(product).toEqual({
    id: 'demo-instant',
    title: 'Demo: there at the first poll',
    restrictions: { whitelist: [], blacklist: [] },
    quantity: 1_000_000,
    price: 4.99,
    currency: 'EUR',
  });
});

test('the catalogue depends on the seed alone, so a test may name its products', async () => {
  const query = 'limit=500&sort=ALPHABET_ASC';
  const one = await products(query);
  expect(await products(query)).toEqual(one);
  expect(await products(query, await start({ seed: 'another' }))).not.toEqual(one);
});

test('pages cover the whole catalogue of over a thousand products, each once, in the order that is asked for', async () => {
  const setup = await start();
  const { hits, pages } = (await call(setup.sandbox, `${PRODUCTS}?limit=500`)).body.details.data;
  expect(pages).toEqual({ page: 1, total: 3, limit: 500 });
  expect(hits).toBeGreaterThanOrEqual(1_000);
  const sorted = async (sort: string) =>
    (await Promise.all([1, 2, 3].map((page) => products(`limit=500&page=${page}&sort=${sort}`, setup)))).flat();
  expect(new Set((await sorted('PRICE_ASC')).map(({ id }) => id)).size).toBe(hits);
  const prices = (await sorted('PRICE_ASC')).map(({ price }) => price);
  const titles = (await sorted('ALPHABET_ASC')).map(({ title }) => title);
  expect(prices).toEqual(prices.toSorted((one, other) => one - other));
  expect(titles.find((title, at) => title < (titles[at - 1] ?? ''))).toBeUndefined();
  expect(new Set(prices).size).toBeGreaterThan(1);
  expect((await sorted('PRICE_DESC')).map(({ price }) => price)).toEqual(prices.toReversed());
  expect((await sorted('ALPHABET_DESC')).map(({ title }) => title)).toEqual(titles.toReversed());
  const byDate = async (sort: string) =>
    (await sorted(sort)).map(({ id }) => id).filter((id) => !id.startsWith('demo-'));
  expect(await byDate('DATE_DESC')).toEqual((await byDate('DATE_ASC')).toReversed());
});

test('a search finds words in title and keywords, title first, and nothing else', async () => {
  const found = await products('query=gift%20card&limit=500');
  expect(found.length).toBeGreaterThan(10);
  expect(found.every(({ title }) => title.includes('Gift Card'))).toBe(true);
  expect(await products('query=no-such-thing')).toEqual([]);
});

test('in_stock splits the catalogue, so an unavailable product is never listed as available', async () => {
  const setup = await start();
  const listed = async (query: string) =>
    (await call(setup.sandbox, `${PRODUCTS}?limit=500&${query}`)).body.details.data;
  const [available, sold, all] = [await listed('in_stock=true'), await listed('in_stock=false'), await listed('')];
  expect(available.products.every(({ quantity }) => quantity > 0)).toBe(true);
  expect(sold.products.every(({ quantity }) => quantity === 0)).toBe(true);
  expect(sold.products.map(({ id }) => id)).toContain('demo-out-of-stock');
  expect(available.hits + sold.hits).toBe(all.hits);
});

test('prices come in ten currencies at a fixed rate', async () => {
  const setup = await start();
  const priceIn = async (currency: string) =>
    (await products(`query=demo-instant&currency=${currency}`, setup))[0]?.price;
  const prices = await Promise.all('EUR GBP CHF PLN RUB UAH USD CAD AUD NZD'.split(' ').map(priceIn));
  expect(prices).toEqual([4.99, 4.24, 4.74, 21.46, 474.05, 224.55, 5.49, 7.49, 8.23, 8.98]);
});

test('a value that is not documented is refused, not silently bent', async () => {
  const { sandbox } = await start();
  const wrong = ['limit=501', 'limit=0', 'page=0', 'page=1.5', 'sort=PRICE', 'currency=XXX', 'in_stock=yes'];
  for (const path of [...wrong.map((query) => `${PRODUCTS}?${query}`), `${ORDERS}?limit=501`]) {
    const { status, body } = await call(sandbox, path);
    expect([path, status]).toEqual([path, 400]);
    expect(body).toMatchObject({ status: 400, success: false, details: { data: { code: 'bad_request' } } });
  }
});

test('no operation answers without the right API key, and none takes effect', async () => {
  const { sandbox } = await start();
  for (const key of ['', 'wrong', 'sandbox-keys']) {
    const headers = { 'x-api-key': key };
    const answers = await Promise.all([
      call(sandbox, PRODUCTS, { headers }),
      call(sandbox, ORDERS, { headers }),
      call(sandbox, '/orders/any/keys', { headers }),
      call(sandbox, '/place-order', { headers, method: 'POST', body: orderBody('REF-1', { 'demo-instant': 1 }) }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  }
  expect(await sandbox.ordersOf('REF-1')).toEqual([]);
});

test('prefixes, parameter names and API keys are settings, because the document shows none of them', async () => {
  const prefix = '/api/v1/partners';
  const apiKeys = ['old', 'new'];
  const { sandbox } = await start({ listPrefix: prefix, orderPrefix: prefix, searchParam: 'search', apiKeys });
  const headers = { 'x-api-key': 'new', 'content-type': 'application/json' };
  const body = orderBody('REF-1', { 'demo-instant': 1 });
  const { status } = await call(sandbox, `${prefix}/place-order`, { method: 'POST', body, headers });
  const found = await call(sandbox, `${prefix}/orders?search=REF-2`, { headers });

  expect(status).toBe(200);
  expect(found.body.details.data.hits).toBe(0);
  expect((await call(sandbox, '/place-order', { method: 'POST', body, headers })).status).toBe(404);
});

test('an order in the history has exactly the documented fields, and id and reference both find it', async () => {
  const { sandbox } = await start();
  const id = await placed(sandbox, 'REF-1', { 'demo-instant': 2, 'demo-seconds': 1 });
  await placed(sandbox, 'REF-10', { 'demo-instant': 1 });

  const shown = {
    id,
    reference_id: 'REF-1',
    status: 'PROCESSING',
    item: { id: 'demo-instant', title: 'Demo: there at the first poll', quantity: 3, amount: 19.97 },
    created_at: '2030-01-01T12:00:00.000Z',
  };
  for (const query of ['REF-1', id]) {
    const { data } = (await call(sandbox, `${ORDERS}?query=${query}`)).body.details;
    expect(data).toEqual({ hits: 1, orders: [shown], pages: { page: 1, total: 1, limit: 50 } });
  }
});

test('the history is newest first unless it is set the other way round', async () => {
  const { sandbox, time } = await start();
  for (const reference of ['A', 'B', 'C']) {
    time.nowMs += 1;
    await placed(sandbox, reference, { 'demo-instant': 1 });
  }
  const items = [{ id: 'demo-instant', quantity: 1 }];
  await sandbox.placeManualOrder({ referenceId: 'before', items, createdAt: '2029-12-31T00:00:00Z' });
  expect(await search(sandbox, '')).toEqual(['C', 'B', 'A', 'before']);
  sandbox.settings({ historyOrder: 'oldest' });
  expect(await search(sandbox, '')).toEqual(['before', 'A', 'B', 'C']);
});

test('keys come with the documented fields, and the same ones each time', async () => {
  const { sandbox } = await start();
  const id = await placed(sandbox, 'REF-1', { 'demo-instant': 2 });
  const content = await poll(sandbox, id);
  const text = { type: 'text', value: expect.stringMatching(/^[2-9A-Z]{5}-[2-9A-Z]{5}-[2-9A-Z]{5}$/) };

  expect(content).toEqual({
    id,
    status: 'COMPLETED',
    products: [{ id: 'demo-instant', title: 'Demo: there at the first poll', quantity: 2, keys: [text, text] }],
    total_debit: 9.98,
    balance: { balance: 99_990.02, credit_limit: 10_000 },
  });
  expect(await poll(sandbox, id)).toEqual(content);
});

test('an unknown order is 404, and a path that only resembles one is 404 too', async () => {
  const { sandbox } = await start();
  expect((await call(sandbox, '/orders/ord-none/keys')).body.details.data.code).toBe('unknown_order');
  expect((await call(sandbox, '/orders/keys')).body.details.data.code).toBe('unknown_path');
  expect((await call(sandbox, '/place-order')).status).toBe(405);
});

const ordering = (item: string) => `{"reference_id":"R","items":[${item}]}`;

test.each([
  ['{', 400],
  ['[]', 400],
  ['{"reference_id":"R"}', 400],
  [ordering(''), 400],
  [ordering('{"id":"demo-instant","quantity":1}').replace('"R"', '""'), 400],
  [ordering('{"id":"demo-instant","quantity":0}'), 400],
  [ordering('{"id":"demo-instant","quantity":1.5}'), 400],
  [ordering('{"id":"demo-instant","quantity":"1"}'), 400],
  [ordering('{"id":"no-such-product","quantity":1}'), 422],
  [ordering('{"id":"demo-out-of-stock","quantity":1}'), 422],
  [ordering('{"id":"demo-instant","quantity":1}'), 415, 'application/x-www-form-urlencoded'],
])(
  'the order %s is refused with %i and leaves nothing in the ledger',
  async (body, status, type = 'application/json') => {
    const { sandbox } = await start();
    const init = { method: 'POST', body, headers: { 'content-type': type } };
    expect((await call(sandbox, '/place-order', init)).status).toBe(status);
    expect(await sandbox.ledger()).toMatchObject({ balance: 100_000, totals: { orders: 0 } });
  },
);

test('a reference called __proto__ is a reference like any other', async () => {
  const { sandbox } = await start();
  await placed(sandbox, '__proto__', { 'demo-instant': 1 });
  expect(await search(sandbox, '__proto__')).toEqual(['__proto__']);
  expect((await sandbox.ledger()).references.map(({ referenceId }) => referenceId)).toEqual(['__proto__']);
});
