import { call, type Data, ONE, orderBody, place, placed, poll, search, start } from './support';

const PRODUCTS = '/v1/partners/products';
const ORDERS = '/v1/partners/orders';

type Product = Data['products'][number];

test('every operation responds with the documented envelope and exactly the documented fields', async () => {
  const { sandbox } = await start();
  const responses = [
    await call(sandbox, `${PRODUCTS}?query=demo-instant`),
    await place(sandbox, 'REF-1', { 'demo-instant': 2 }),
    await call(sandbox, `${ORDERS}?query=REF-1`),
  ];
  const id = responses[1]!.body.details.data.id;
  responses.push(await call(sandbox, `/orders/${id}/keys`));

  const timestamp = '2030-01-01T12:00:00.000Z';
  const pages = { page: 1, total: 1, limit: 50 };
  const named = { id: 'demo-instant', title: 'Demo: ready at the first poll' };
  const shown = { restrictions: { whitelist: [], blacklist: [] }, quantity: 1_000_000, price: 4.99, currency: 'EUR' };
  const item = { ...named, quantity: 2, amount: 9.98 };
  const text = { type: 'text', value: expect.stringMatching(/^[2-9A-Z]{5}-[2-9A-Z]{5}-[2-9A-Z]{5}$/) };
  expect(responses.map(({ body }) => body.details.data)).toEqual([
    { hits: 1, products: [{ ...named, ...shown }], pages },
    { id },
    { hits: 1, orders: [{ id, reference_id: 'REF-1', status: 'COMPLETED', item, created_at: timestamp }], pages },
    {
      id,
      status: 'COMPLETED',
      products: [{ ...named, quantity: 2, keys: [text, text] }],
      total_debit: 9.98,
      balance: { balance: 99_990.02, credit_limit: 10_000 },
    },
  ]);
  const extensions = { trace_id: expect.stringMatching(/^[0-9a-f]{32}$/), timestamp };
  for (const { body } of responses) expect(body).toMatchObject({ status: 200, success: true, details: { extensions } });
  expect(new Set(responses.map(({ body }) => body.details.extensions.trace_id)).size).toBe(4);
  expect(await poll(sandbox, id)).toEqual(responses[3]!.body.details.data);
});

test.each<[query: string, isAsAsked: (product: Product, previous: Product) => boolean]>([
  ['sort=PRICE_ASC', ({ price }, previous) => price >= previous.price],
  ['sort=PRICE_DESC', ({ price }, previous) => price <= previous.price],
  ['sort=ALPHABET_ASC', ({ title }, previous) => title >= previous.title],
  ['query=gift%20card', ({ title }) => title.includes('Gift Card')],
  ['in_stock=true', ({ quantity }) => quantity > 0],
  ['in_stock=false', ({ quantity }) => quantity === 0],
  ['query=demo-instant&currency=PLN', ({ price }) => price === 21.46],
])('the catalogue with %s lists the matching products and nothing else', async (query, isAsAsked) => {
  const { sandbox } = await start();
  const { products } = (await call(sandbox, `${PRODUCTS}?limit=500&${query}`)).body.details.data;
  expect(products.length).toBeGreaterThan(0);
  expect(products.filter((product, at) => !isAsAsked(product, products[at - 1] ?? product))).toEqual([]);
});

test('an undocumented value is rejected, not silently adjusted', async () => {
  const { sandbox } = await start();
  const wrong = ['limit=501', 'limit=0', 'page=0', 'page=1.5', 'sort=PRICE', 'currency=XXX', 'in_stock=yes'];
  for (const path of [...wrong.map((query) => `${PRODUCTS}?${query}`), `${ORDERS}?limit=501`]) {
    const { status, body } = await call(sandbox, path);
    expect([path, status]).toEqual([path, 400]);
    expect(body).toMatchObject({ status: 400, success: false, details: { data: { code: 'bad_request' } } });
  }
});

test('prefixes, parameter names and API keys are configurable, because the partner does not document them', async () => {
  const prefix = '/api/v1/partners';
  const apiKeys = ['old', 'new'];
  const { sandbox } = await start({ listPrefix: prefix, orderPrefix: prefix, searchParam: 'search', apiKeys });
  const headers = { 'x-api-key': 'new', 'content-type': 'application/json' };
  const placing = { method: 'POST', body: orderBody('REF-1', ONE), headers };

  expect((await call(sandbox, `${prefix}/place-order`, placing)).status).toBe(200);
  expect((await call(sandbox, `${prefix}/orders?search=REF-2`, { headers })).body.details.data.hits).toBe(0);
  expect((await call(sandbox, '/place-order', placing)).status).toBe(404);
});

test('the history finds an order by its id or its reference, and shows several products as one item', async () => {
  const { sandbox } = await start();
  const id = await placed(sandbox, 'REF-1', { 'demo-instant': 2, 'demo-seconds': 1 });
  await placed(sandbox, 'REF-10', ONE);
  for (const query of ['REF-1', id]) {
    const { orders } = (await call(sandbox, `${ORDERS}?query=${query}`)).body.details.data;
    expect(orders).toMatchObject([{ id, item: { id: 'demo-instant', quantity: 3, amount: 19.97 } }]);
  }
});

test('the history is newest first unless configured otherwise', async () => {
  const { sandbox, time } = await start();
  for (const reference of ['A', 'B', 'C']) {
    time.nowMs += 1;
    await placed(sandbox, reference, ONE);
  }
  expect(await search(sandbox, '')).toEqual(['C', 'B', 'A']);
  sandbox.settings({ historyOrder: 'oldest' });
  expect(await search(sandbox, '')).toEqual(['A', 'B', 'C']);
});

const ordering = (item: string) => `{"reference_id":"R","items":[${item}]}`;

test.each([
  ['{', 400],
  ['[]', 400],
  [ordering(''), 400],
  [ordering('{"id":"demo-instant","quantity":1.5}'), 400],
  [ordering('{"id":"no-such-product","quantity":1}'), 422],
  [ordering('{"id":"demo-out-of-stock","quantity":1}'), 422],
  [ordering('{"id":"demo-instant","quantity":1}'), 415, 'application/x-www-form-urlencoded'],
])('the order %s is rejected with %i and costs nothing', async (body, status, type = 'application/json') => {
  const { sandbox } = await start();
  const init = { method: 'POST', body, headers: { 'content-type': type } };
  expect((await call(sandbox, '/place-order', init)).status).toBe(status);
  expect(await sandbox.ledger()).toMatchObject({ balance: 100_000, totals: { orders: 0 } });
});
