import { call, type Data, poll, orderBody, place, placed, post, search, start } from './support';

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
  const [one, same, other] = await Promise.all([
    products('limit=500&sort=ALPHABET_ASC'),
    products('limit=500&sort=ALPHABET_ASC'),
    start({ seed: 'another' }).then((setup) => products('limit=500&sort=ALPHABET_ASC', setup)),
  ]);
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

test('pages cover the whole catalogue of over a thousand products, each product once', async () => {
  const setup = await start();
  const { hits, pages } = (await call(setup.sandbox, `${PRODUCTS}?limit=500`)).body.details.data;
  const ids = (
    await Promise.all([1, 2, 3, 4].map((page) => products(`limit=500&page=${page}&sort=PRICE_ASC`, setup)))
  ).flat();

  expect(pages).toEqual({ page: 1, total: 3, limit: 500 });
  expect(hits).toBeGreaterThanOrEqual(1_000);
  expect(ids).toHaveLength(hits);
  expect(new Set(ids.map(({ id }) => id)).size).toBe(hits);
});

test.each([
  ['PRICE_ASC', (one: Product, other: Product) => one.price <= other.price],
  ['PRICE_DESC', (one: Product, other: Product) => one.price >= other.price],
  ['ALPHABET_ASC', (one: Product, other: Product) => one.title <= other.title],
  ['ALPHABET_DESC', (one: Product, other: Product) => one.title >= other.title],
])('%s sorts the whole list', async (sort, inOrder) => {
  const list = await products(`limit=500&sort=${sort}`);
  expect(list.every((product, at) => at === 0 || inOrder(list[at - 1] ?? product, product))).toBe(true);
  expect(new Set(list.map(({ price }) => price)).size).toBeGreaterThan(1);
});

test('the two sorts by date are each other’s reverse', async () => {
  const setup = await start({ products: 1_000 });
  const all = async (sort: string): Promise<string[]> =>
    (await Promise.all([1, 2, 3].map((page) => products(`limit=500&page=${page}&query=key&sort=${sort}`, setup))))
      .flat()
      .map(({ id }) => id)
      .filter((id) => !id.startsWith('demo-'));
  expect(await all('DATE_DESC')).toEqual((await all('DATE_ASC')).reverse());
});

test('a search finds words in title and keywords, title first, and nothing else', async () => {
  const found = await products('query=gift%20card&limit=500');
  expect(found.length).toBeGreaterThan(10);
  expect(found.every(({ title }) => title.includes('Gift Card'))).toBe(true);
  expect(await products('query=no-such-thing')).toEqual([]);
});

test('in_stock splits the catalogue, so an unavailable product is never listed as available', async () => {
  const setup = await start();
  const [available, sold, all] = await Promise.all(
    ['in_stock=true', 'in_stock=false', ''].map(async (query) => {
      const { hits, products: list } = (await call(setup.sandbox, `${PRODUCTS}?limit=500&${query}`)).body.details.data;
      return { hits, list };
    }),
  );
  expect(available?.list.every(({ quantity }) => quantity > 0)).toBe(true);
  expect(sold?.list.every(({ quantity }) => quantity === 0)).toBe(true);
  expect(sold?.list.map(({ id }) => id)).toContain('demo-out-of-stock');
  expect((available?.hits ?? 0) + (sold?.hits ?? 0)).toBe(all?.hits);
});

test('prices come in ten currencies at a fixed rate', async () => {
  const setup = await start();
  const prices = await Promise.all(
    ['EUR', 'GBP', 'CHF', 'PLN', 'RUB', 'UAH', 'USD', 'CAD', 'AUD', 'NZD'].map(
      async (currency) => (await products(`query=demo-instant&currency=${currency}`, setup))[0]?.price,
    ),
  );
  expect(prices).toEqual([4.99, 4.24, 4.74, 21.46, 474.05, 224.55, 5.49, 7.49, 8.23, 8.98]);
});

test.each([
  `${PRODUCTS}?limit=501`,
  `${PRODUCTS}?limit=0`,
  `${PRODUCTS}?page=0`,
  `${PRODUCTS}?page=1.5`,
  `${PRODUCTS}?sort=PRICE`,
  `${PRODUCTS}?currency=XXX`,
  `${PRODUCTS}?in_stock=yes`,
  `${ORDERS}?limit=501`,
])('%s is out of the documented values and is refused, not silently bent', async (path) => {
  const { status, body } = await call((await start()).sandbox, path);
  expect(status).toBe(400);
  expect(body).toMatchObject({ status: 400, success: false, details: { data: { code: 'bad_request' } } });
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
  const { sandbox } = await start({
    listPrefix: '/api/v1/partners',
    orderPrefix: '/api/v1/partners',
    searchParam: 'search',
    apiKeys: ['old', 'new'],
  });
  const headers = { 'x-api-key': 'new', 'content-type': 'application/json' };
  const body = orderBody('REF-1', { 'demo-instant': 1 });
  const { status } = await call(sandbox, '/api/v1/partners/place-order', { method: 'POST', body, headers });
  const found = await call(sandbox, '/api/v1/partners/orders?search=REF-2', { headers });

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
  await sandbox.placeManualOrder({
    referenceId: 'before',
    items: [{ id: 'demo-instant', quantity: 1 }],
    createdAt: '2029-12-31T00:00:00Z',
  });
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

test.each([
  ['{', 400],
  ['[]', 400],
  ['{"reference_id":"R"}', 400],
  ['{"reference_id":"R","items":[]}', 400],
  ['{"reference_id":"","items":[{"id":"demo-instant","quantity":1}]}', 400],
  ['{"reference_id":"R","items":[{"id":"demo-instant","quantity":0}]}', 400],
  ['{"reference_id":"R","items":[{"id":"demo-instant","quantity":1.5}]}', 400],
  ['{"reference_id":"R","items":[{"id":"demo-instant","quantity":"1"}]}', 400],
  ['{"reference_id":"R","items":[{"id":"no-such-product","quantity":1}]}', 422],
  ['{"reference_id":"R","items":[{"id":"demo-out-of-stock","quantity":1}]}', 422],
])('the order %s is refused with %i and leaves nothing in the ledger', async (body, status) => {
  const { sandbox } = await start();
  expect((await post(sandbox, '/place-order', body)).status).toBe(status);
  expect(await sandbox.ledger()).toMatchObject({ balance: 100_000, totals: { orders: 0 } });
});

test('a body that is not called JSON is refused', async () => {
  const { sandbox } = await start();
  const body = orderBody('REF-1', { 'demo-instant': 1 });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await call(sandbox, '/place-order', { method: 'POST', body, headers })).status).toBe(415);
  expect(await sandbox.ordersOf('REF-1')).toEqual([]);
});

test('a reference called __proto__ is a reference like any other', async () => {
  const { sandbox } = await start();
  await placed(sandbox, '__proto__', { 'demo-instant': 1 });
  expect(await search(sandbox, '__proto__')).toEqual(['__proto__']);
  expect((await sandbox.ledger()).references.map(({ referenceId }) => referenceId)).toEqual(['__proto__']);
});
