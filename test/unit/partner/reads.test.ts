import { type Reply, type ScriptedServer, startServer } from '../../support/http-server';
import { clientOf, collect, envelope, failureOf, historyRow, orderData, productRow, TIMESTAMP } from './fixtures';

let server: ScriptedServer;
let partner: ReturnType<typeof clientOf>;

beforeEach(async () => {
  server = await startServer();
  partner = clientOf(server.url);
});

const PRODUCT = { id: 'p-1', title: 'Product p-1', quantity: 1, keys: [{ value: 'FAKE-KEY-1' }] };
const pages = { page: 1, total: 1, limit: 50 };

function respondWith(data: unknown): void {
  server.script({ json: envelope(data) });
}

describe('the catalogue', () => {
  it('is read with the documented parameters and returned under our own names', async () => {
    respondWith({ hits: 1, products: [productRow('p-1', { more: 1 })], pages });
    const query = { query: 'a b&c', inStock: false, sort: 'PRICE_ASC', currency: 'PLN', page: 2, limit: 500 } as const;
    const { data, traceId } = await partner.listProducts(query);

    const params = 'query=a+b%26c&in_stock=false&sort=PRICE_ASC&currency=PLN&page=2&limit=500';
    expect(server.received[0]!.path).toBe(`/v1/partners/products?${params}`);
    expect(data).toEqual({ hits: 1, products: [productRow('p-1')], unreadable: [], pages });
    expect(traceId).toBe('trace-1');
  });

  it('accepts everything that the documentation leaves open, and __proto__ as an ordinary name', async () => {
    const row = productRow('__proto__', { currency: 'XTS', restrictions: { whitelist: null } });
    respondWith({ hits: 1, products: [row], pages });
    const [product] = (await partner.listProducts()).data.products;
    expect(product).toMatchObject({ id: '__proto__', currency: 'XTS', restrictions: { whitelist: [], blacklist: [] } });
  });

  it('shows a product whose title, stock or restrictions are unreadable, because only its price decides', async () => {
    const rows = [
      productRow('p-1', { restrictions: null, quantity: 2 ** 60, title: 7 }),
      productRow('p-2', { restrictions: 'none', quantity: '5', title: null }),
      productRow(3 as never, { restrictions: undefined, quantity: null }),
    ];
    respondWith({ hits: 3, products: rows, pages });
    const { products, unreadable } = (await partner.listProducts()).data;
    expect(unreadable).toEqual([]);
    expect(products.map(({ id, quantity }) => [id, quantity])).toEqual([
      ['p-1', undefined],
      ['p-2', 5],
      ['3', undefined],
    ]);
    // Not an empty list, which would mean "unrestricted".
    expect(products.map(({ restrictions }) => restrictions)).toEqual([undefined, undefined, undefined]);
  });

  it('is unreadable with more rows than a hundred full pages, before any row is parsed', async () => {
    respondWith({ hits: 1, products: Array.from({ length: 50_001 }, () => 1), pages });
    const failure = await failureOf(partner.listProducts());
    expect(failure).toMatchObject({ kind: 'unreadable' });
    expect(failure.message).toContain('details.data.products: an array of at most 50000 rows');
  });

  it.each([
    ['an infinite price', '"price":1e999'],
    ['a price that JSON.parse rounds', '"price":90071992547409931'],
  ])('rejects %s, but no other product', async (_, field) => {
    const name = field.slice(1, field.indexOf('":'));
    const row = JSON.stringify(productRow('p-1', { [name]: 'HERE' })).replace(`"${name}":"HERE"`, field);
    const products = ['ROW', productRow('p-2')];
    const body = JSON.stringify(envelope({ hits: 2, products, pages })).replace('"ROW"', row);
    server.script({ body }, { body });
    const { data } = await partner.listProducts();
    expect(data.products.map(({ id }) => id)).toEqual(['p-2']);
    expect(data.unreadable).toMatchObject([{ problems: [expect.stringContaining(`${name}: `)] }]);
    const { value } = await partner.products().next();
    expect(value).toEqual(data.products[0]);
  });
});

describe('the order history', () => {
  it('is read with the configured parameter names', async () => {
    respondWith({ hits: 0, orders: [], pages });
    const historyParams = { search: 'q', page: 'p', limit: 'per_page' };
    const query = { search: 'REF-1&x=1', page: 3, limit: 20 };
    await clientOf(server.url, { historyParams, listPrefix: '/v2' }).listOrders(query);
    await partner.listOrders(query);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v2/orders?q=REF-1%26x%3D1&p=3&per_page=20',
      '/v1/partners/orders?query=REF-1%26x%3D1&page=3&limit=20',
    ]);
  });

  it('shows every order, whatever form the item of a multi-product order has', async () => {
    const rows = [
      historyRow('o-1'),
      historyRow('o-2', { item: [{ id: 'p-1' }] }),
      historyRow('o-3', { item: null, status: 'NEVER_HEARD_OF', reference_id: null }),
      historyRow('o-4', { item: { title: '2 products', amount: 30, quantity: 'two' } }),
    ];
    respondWith({ hits: 4, orders: rows, pages });
    const { orders } = (await partner.listOrders()).data;
    const item = { id: 'p-1', title: 'Product p-1', quantity: 2, amount: 19.98 };
    const one = { id: 'o-1', referenceId: 'REF-o-1', status: 'COMPLETED', item, createdAt: TIMESTAMP };
    expect(orders[0]).toEqual(one);
    expect(orders[1]).toMatchObject({ referenceId: 'REF-o-2', item: undefined });
    expect(orders[2]).toMatchObject({ referenceId: undefined, status: 'NEVER_HEARD_OF', item: undefined });
    expect(orders[3]).toMatchObject({ item: { title: '2 products', amount: 30 } });
  });

  it.each([
    ['status', null, 'string'],
    ['id', null, 'string'],
    ['id', 2 ** 53, 'string'],
    ['created_at', 'FAKE-VALUE', 'a date and time'],
    ['created_at', 'order 5', 'a date and time'],
  ])('reports a row with a wrong %s without its value, and reads all others', async (name, value, wanted) => {
    const rows = Array.from({ length: 500 }, (_, index) => historyRow(`o-${index}`));
    rows[321]![name] = value;
    respondWith({ hits: 500, orders: rows, pages });
    const { orders, unreadable } = (await partner.listOrders()).data;
    expect(orders).toHaveLength(499);
    expect(unreadable).toMatchObject([{ at: 321, referenceId: 'REF-o-321' }]);
    expect(unreadable[0]!.id).toBe(name === 'id' ? undefined : 'o-321');
    expect(unreadable[0]!.problems).toEqual([expect.stringMatching(new RegExp(`^${name}.*: ${wanted}$`))]);
    expect(JSON.stringify(unreadable)).not.toContain('FAKE-VALUE');
  });

  it('shows an id that the partner writes as a number', async () => {
    respondWith({ hits: 2, orders: [historyRow('', { id: 777 }), historyRow('', { id: 778, status: null })], pages });
    expect((await partner.listOrders()).data).toMatchObject({ orders: [{ id: '777' }], unreadable: [{ id: '778' }] });
  });

  it('reads a time without a zone as UTC, not in the zone of this machine', async () => {
    const wholeHours = ['2026-01-03T10:00:00', '2026-01-03 10:00:00.000', '2026-01-03T12:00:00+02:00'];
    const rows = wholeHours.map((created_at, index) => historyRow(`o-${index}`, { created_at }));
    respondWith({ hits: 3, orders: rows, pages });
    const { orders } = (await partner.listOrders()).data;
    expect(orders.map(({ createdAt }) => Date.parse(createdAt))).toEqual(Array(3).fill(Date.UTC(2026, 0, 3, 10)));
    expect(orders[0]?.createdAt).toBe('2026-01-03T10:00:00Z');
  });

  it.each([
    ['2026-01-03', '2026-01-03T00:00:00.000Z'],
    ['2026-01-03T10:00', '2026-01-03T10:00:00.000Z'],
    ['2026-01-03 10:00:00.123456Z', '2026-01-03T10:00:00.123Z'],
    ['2026-01-03T10:00:00.123456789-05:30', '2026-01-03T15:30:00.123Z'],
    ['2026-01-03T10:00Z', '2026-01-03T10:00:00.000Z'],
    ['2026-01-03 12:00:00+0200', '2026-01-03T10:00:00.000Z'],
    ['2026-01-03 10:00:00.5+00', '2026-01-03T10:00:00.500Z'],
  ])('reads the ISO 8601 time %s', async (created_at, time) => {
    respondWith({ hits: 1, orders: [historyRow('o-1', { created_at })], pages });
    const [order] = (await partner.listOrders()).data.orders;
    expect(new Date(order!.createdAt).toISOString()).toBe(time);
  });

  it.each([
    ...['order 5', '5', '2026', '2026-01', 'x 2026-01-03', '2026-01-03 order 5', '2026-01-03T10:00:00Z (\u202E)'],
    ...['Sat, 03 Jan 2026 00:00:00 GMT', '01/03/2026', '2026-13-01', '2026-01-03T25:00:00Z', '', null, 1767398400],
  ])('reports a row whose time is not in ISO 8601, because another date would hide it: %j', async (created_at) => {
    respondWith({ hits: 1, orders: [historyRow('o-1', { created_at })], pages });
    const { orders, unreadable } = (await partner.listOrders()).data;
    expect([orders, unreadable.map(({ id, createdAt }) => [id, createdAt])]).toEqual([[], [['o-1', undefined]]]);
  });

  it('shortens long texts, drops an overlong id instead of shortening it, and bounds the age of a row without a date', async () => {
    const long = 'x'.repeat(12_000);
    const texts = { reference_id: long, status: long, item: { title: long } };
    const rows = [
      historyRow('o-1', { ...texts, created_at: '2026-01-03T00:00:00Z' }),
      historyRow(long, { created_at: null }),
      null,
      historyRow('o-4'),
    ];
    respondWith({ hits: 4, orders: rows, pages });
    const { orders, unreadable } = (await partner.listOrders()).data;
    const { referenceId, status, item } = orders[0]!;
    expect([referenceId, status, item?.title].map((one) => one?.length)).toEqual([201, 201, 201]);
    const notAfter = Date.parse('2026-01-03T00:00:00Z');
    expect(unreadable).toMatchObject([1, 2].map((at) => ({ at, notAfter })));
    expect(unreadable.filter(({ id }) => id !== undefined)).toEqual([]);
  });

  it('is returned as well-formed texts without control characters', async () => {
    const hostile = `${'x'.repeat(199)}🎮\u202E\u0000\u001B[2J`;
    const texts = { reference_id: hostile, status: hostile, item: { id: hostile, title: hostile } };
    const rows = [historyRow('o\u202E1', texts), historyRow('o\u202E2', { ...texts, status: 7 })];
    respondWith({ hits: 2, orders: rows, pages });
    const { orders, unreadable } = (await partner.listOrders()).data;
    const cut = `${'x'.repeat(199)}…`;
    const item = { id: cut, title: cut };
    expect(orders).toMatchObject([{ id: 'o 1', referenceId: cut, status: cut, item }]);
    expect(unreadable).toMatchObject([{ id: 'o 2', referenceId: cut }]);
    respondWith({ hits: 1, products: [productRow('p\u202E1', { title: hostile, currency: hostile })], pages });
    expect((await partner.listProducts()).data.products).toMatchObject([{ id: 'p\u202E1', title: cut, currency: cut }]);
  });

  it('is not searched for an empty text, which would list everything', async () => {
    expect(await failureOf(partner.listOrders({ search: '' }))).toMatchObject({ kind: 'invalid-argument' });
    expect(server.connections).toBe(0);
  });
});

describe('a list', () => {
  const empty = { page: 0, total: 0, limit: 50 };

  it.each([
    ['null instead of rows', { hits: 0, orders: null, products: null, pages }],
    ['a page 0 of 0', { hits: 0, orders: [], products: [], pages: empty }],
    [
      'both, in numbers as text',
      { hits: '0', orders: null, products: null, pages: { ...pages, page: '0', total: '0' } },
    ],
  ])('is empty with %s', async (_, data) => {
    respondWith(data);
    expect(await collect(partner.ordersSince(0))).toEqual([[]]);
    expect(await collect(partner.orders({ search: 'REF-1' }))).toEqual([]);
    expect(await collect(partner.products())).toEqual([]);
  });

  it('is read with numbers as text', async () => {
    const asText = { page: '1', total: '1', limit: '50' };
    respondWith({ hits: '1', orders: [historyRow('o-1')], products: [productRow('p-1')], pages: asText });
    expect((await partner.listOrders()).data).toMatchObject({ hits: 1, orders: [{ id: 'o-1' }], pages });
    expect((await partner.listProducts()).data).toMatchObject({ hits: 1, products: [{ id: 'p-1' }], pages });
  });

  it.each([
    ['null with a count', { hits: 1, orders: null, products: null, pages }],
    ['no rows with a count as text', { hits: '1', orders: [], products: [], pages }],
    ['a page 0 of 0 with a count', { hits: 1, orders: [], products: [], pages: empty }],
    ['a page 0 of 0 with rows', { hits: 0, orders: [historyRow('o-1')], products: [productRow('p-1')], pages: empty }],
    ['a page 0 of 1', { hits: 0, orders: [], products: [], pages: { ...pages, page: 0 } }],
  ])('is incomplete with %s', async (_, data) => {
    respondWith(data);
    const incomplete = { kind: 'incomplete' };
    expect(await failureOf(collect(partner.ordersSince(0)))).toMatchObject(incomplete);
    expect(await failureOf(collect(partner.orders({ search: 'REF-1' })))).toMatchObject(incomplete);
    expect(await failureOf(collect(partner.products()))).toMatchObject(incomplete);
  });

  it.each([null, '', ' ', true, 'abc', '-1', '1.5', '1e3', '0x1', '9'.repeat(16), [1]])(
    'is unreadable with the number %j',
    async (number) => {
      for (const name of ['hits', 'page', 'total', 'limit']) {
        const data = { hits: 1, orders: [historyRow('o-1')], products: [productRow('p-1')], pages: { ...pages } };
        Object.assign(name === 'hits' ? data : data.pages, { [name]: number });
        respondWith(data);
        const unreadable = { kind: 'unreadable', message: expect.stringContaining(`${name}: `) as string };
        expect(await failureOf(partner.listOrders())).toMatchObject(unreadable);
        expect(await failureOf(partner.listProducts())).toMatchObject(unreadable);
      }
    },
  );

  it('is unreadable without its rows', async () => {
    respondWith({ hits: 0, pages });
    expect(await failureOf(partner.listOrders())).toMatchObject({ kind: 'unreadable' });
    expect(await failureOf(partner.listProducts())).toMatchObject({ kind: 'unreadable' });
  });
});

describe('an order with its keys', () => {
  it('is read from the configured path', async () => {
    respondWith(orderData('o-1'));
    const configured = clientOf(server.url, { orderPrefix: '/v1/partners' });
    const { data } = await configured.getOrder('o-1');

    expect(server.received[0]).toMatchObject({ method: 'GET', path: '/v1/partners/orders/o-1/keys' });
    expect(data).toEqual({
      id: 'o-1',
      status: 'COMPLETED',
      products: [{ id: 'p-1', title: 'Product p-1', quantity: 1, keys: [{ type: 'text', value: 'FAKE-KEY-1' }] }],
      totalDebit: 9.99,
      balance: { balance: 90.01, creditLimit: 50 },
      ignored: [],
    });
  });

  it.each<[string, object, string?]>([
    ['a pending one without products or amounts', { products: null, total_debit: null, balance: null }, 'PENDING'],
    ['one with an unknown status', {}, 'ON_HOLD'],
    ['one with a product without quantity, title or keys', { products: [{ id: 'p-1', keys: null }] }],
    ['one with an unknown type of key', { products: [{ id: 'p-1', keys: [{ type: 'audio', value: 'x' }] }] }],
    ['one with a type of key that is no text', { products: [{ id: 'p-1', keys: [{ type: 1, value: 'x' }] }] }],
    ['one with a product id that is a number', { products: [{ id: 7, keys: [{ value: 'x' }] }] }],
    ['one with a key without a type', { products: [{ id: 'p-1', keys: [{ value: 'x' }] }] }],
    ['one with half a balance', { balance: { credit_limit: 1 } }],
  ])('may be %s', async (_, more, status = 'COMPLETED') => {
    respondWith(orderData('o-1', { ...more, status }));
    expect((await partner.getOrder('o-1')).data).toMatchObject({ id: 'o-1', status });
  });

  it.each([777, 0, Number.MAX_SAFE_INTEGER])('may have the requested id as a number: %d', async (id) => {
    respondWith(orderData('', { id }));
    expect((await partner.getOrder(String(id))).data.id).toBe(String(id));
  });

  it.each([
    [778, '777'],
    [777, '0777'],
    [777.5, '777.5'],
    [2 ** 53, '9007199254740992'],
    [1e21, '1e+21'],
    [true, 'true'],
    [null, 'null'],
    [[777], '777'],
  ])('may not have the id %j if %s was requested', async (id, requested) => {
    respondWith(orderData('', { id }));
    expect(await failureOf(partner.getOrder(requested))).toMatchObject({ kind: 'unreadable', reason: 'shape' });
  });

  it.each([
    ['another order, whose keys belong to another customer', { id: 'o-2' }, 'details.data.id'],
    ['without a status', { status: undefined }, 'details.data.status'],
    ['complete without products, because it may hold keys', { products: null }, 'details.data.products'],
    ['with a key without a value', { products: [{ id: 'p-1', keys: [{ type: 'text' }] }] }, 'products.0.keys.0.value'],
    ['with an empty key', { products: [{ id: 'p-1', keys: [{ value: '' }] }] }, 'products.0.keys.0.value'],
  ])('may not be %s', async (_, more, place) => {
    respondWith(orderData('o-1', more));
    const error = await failureOf(partner.getOrder('o-1'));
    expect(error).toMatchObject({ kind: 'unreadable', reason: 'shape' });
    expect(error.message).toContain(place);
  });

  it.each<[Record<string, unknown>, string[]]>([
    [{ balance: 1000 }, ['balance']],
    [{ balance: { balance: '1000.00', credit_limit: 'unlimited' } }, ['balance.balance', 'balance.credit_limit']],
    [{ balance: { balance: 2 ** 53, credit_limit: 50 }, total_debit: 1e300 }, ['total_debit', 'balance.balance']],
    [{ total_debit: '1.50' }, ['total_debit']],
    [{ products: [{ ...PRODUCT, quantity: '1' }, PRODUCT] }, ['products.quantity']],
    [{ products: [{ ...PRODUCT, title: { en: 'x' }, quantity: 1.5 }] }, ['products.title', 'products.quantity']],
  ])('is readable with %j: fields that are only displayed are left out and reported', async (more, ignored) => {
    respondWith(orderData('o-1', more));
    const { data } = await partner.getOrder('o-1');
    expect(data.ignored).toEqual(ignored);
    expect(data.products[0]).toMatchObject({ id: 'p-1', keys: [{ value: 'FAKE-KEY-1' }] });
    const read = { ...data, quantity: data.products[0]?.quantity, title: data.products[0]?.title };
    const names = { total_debit: 'totalDebit', balance: 'balance', 'products.quantity': 'quantity' } as const;
    for (const [field, name] of Object.entries(names)) if (ignored.includes(field)) expect(read[name]).toBeUndefined();
  });

  it('shows no title too long to be compared with all keys, because that would stop every other purchase', async () => {
    const keys = Array.from({ length: 20_000 }, (_, at) => ({ value: `KEY-${at}` }));
    const product = { id: 'p-1', title: 'KEY-1234 '.repeat(100_000), keys };
    respondWith(orderData('o-1', { products: [product, { ...product, title: 'KEY-1234!', keys: [] }] }));
    expect((await partner.getOrder('o-1')).data.products.map(({ title }) => title)).toEqual(['[too long]', '[key]!']);
  });

  it('contains no key in a title that shows it in another case or without its line break', async () => {
    const product = { id: 'p-1', title: 'code abcd-efgh-1234', keys: [{ value: 'ABCD-EFGH-1234\n' }] };
    respondWith(orderData('o-1', { products: [product] }));
    expect((await partner.getOrder('o-1')).data.products[0]?.title).toBe('code [key]');
  });

  it('contains no part of two keys that overlap in a title, of a key in letters whose lower case is longer, or of an image', async () => {
    const image = `data:image/png;base64,${'Qz9'.repeat(20_000)}`;
    const keys = ['ABCDEF-1', 'DEF-1234', 'İİİ-KEY', image].map((value) => ({ value }));
    const titles = ['x ABCDEF-1234 y', 'i̇ İİİ-key!', `Voucher ${image}`];
    respondWith(orderData('o-1', { products: titles.map((title, at) => ({ id: `p-${at}`, title, keys })) }));
    const { data } = await partner.getOrder('o-1');
    expect(data.products.map(({ title }) => title)).toEqual(['x [key] y', 'i̇ [key]!', '[too long]']);
  });

  it('ends even if one of its keys reads like its status', async () => {
    respondWith(orderData('o-1', { status: 'COMPLETED', products: [{ ...PRODUCT, keys: [{ value: 'completed' }] }] }));
    expect((await partner.getOrder('o-1')).data.status).toBe('COMPLETED');
  });

  it.each([
    ['keys', { keys: Array.from({ length: 200_000 }, () => 1) }],
    ['products', undefined],
  ])('is unreadable with too many invalid %s, and the error quotes none of them', async (_, product) => {
    respondWith(
      orderData('o-1', { products: product ? [product] : Array.from({ length: 200_000 }, () => 'FAKE-KEY-1') }),
    );
    const failure = await failureOf(partner.getOrder('o-1'));
    expect(failure).toMatchObject({ kind: 'unreadable' });
    expect(failure.message).toContain('products: at most 500, with at most 30000 keys');
    expect(failure.message).not.toContain('FAKE');
  });

  it('is readable in an envelope whose status is text', async () => {
    server.script({ json: { ...envelope(orderData('o-1')), status: '200' } });
    expect((await partner.getOrder('o-1')).data.id).toBe('o-1');
  });

  it('contains no key in any text, but the product ids of the purchase stay unchanged', async () => {
    const keys = [{ value: '100234' }, { value: 'asked\u202E' }];
    const ids = ['prod-20100234', 'asked\u202E', 'other-20100234', 'other\u202E'];
    respondWith(orderData('o-1', { products: ids.map((id) => ({ id, title: id, keys })) }));
    const { products } = (await partner.getOrder('o-1', ids.slice(0, 2))).data;
    expect(products.map(({ id }) => id)).toEqual([...ids.slice(0, 2), 'other-20[key]', 'other ']);
    expect(products.map(({ title }) => title)).toEqual(['prod-20[key]', '[key]', 'other-20[key]', 'other ']);
    expect(products[0]?.keys.map(({ value }) => value)).toEqual(keys.map(({ value }) => value));
  });

  it.each(['..', '.', '', 'a/b', 'a%2fb', 'o-1\r\nx-evil: 1', 'o 1', 'ö', 'a?b', 'a#b', 'x'.repeat(201)])(
    'is not requested with an id that would change the path: %j',
    async (id) => {
      expect(await failureOf(partner.getOrder(id))).toMatchObject({ kind: 'invalid-argument', evidence: 'NOT_SENT' });
      expect(server.connections).toBe(0);
    },
  );
});

describe('an error of a read', () => {
  it.each([
    ['not-found', { status: 404 }],
    ['unreadable', { body: '<html>' }],
    ['connection-lost', 'reset'],
  ] satisfies [string, Reply][])('is of kind %s, and the read is not repeated: %j', async (kind, reply) => {
    server.script(reply);
    expect(await failureOf(partner.getOrder('o-1'))).toMatchObject({ kind, operation: 'getOrder' });
    expect(server.received).toHaveLength(1);
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await startServer();
    server.script({ status: 302, headers: { location: `${elsewhere.url}/` } });
    await failureOf(partner.listProducts());
    expect(elsewhere.connections).toBe(0);
  });

  it('occurs at the deadline if there is no response, and the next read succeeds', async () => {
    const hasty = clientOf(server.url, { timeoutMs: 300 });
    server.script('hang', { json: envelope(orderData('o-1')) });
    expect(await failureOf(hasty.getOrder('o-1'))).toMatchObject({ kind: 'timeout', retryable: true, sent: true });
    expect((await hasty.getOrder('o-1')).data.id).toBe('o-1');
  });

  it.each([['a key?\n'], [{}]])('does not contain a malformed trace id: %j', async (trace_id) => {
    server.script({ status: 500, json: envelope({}, { details: { extensions: { trace_id } } }) });
    expect(await failureOf(partner.getOrder('o-1'))).toMatchObject({ traceId: undefined });
  });
});

it('reads share kept-alive connections, and the next read uses a rotated API key', async () => {
  const keys = ['fake-1', 'fake-2', 'fake-3', 'fake-4', 'fake-5'];
  const rotated = [...keys];
  const rotating = clientOf(server.url, { apiKey: () => keys.shift()! });
  respondWith(orderData('o-1'));
  while (keys.length > 0) await rotating.getOrder('o-1');
  expect(server.received.map(({ headers }) => headers['x-api-key'])).toEqual(rotated);
  // Undici opens a second connection if the first is still busy when the next read starts.
  expect(server.connections).toBeLessThanOrEqual(2);
});
