import { rejectionOf } from '../../support/checks';
import { type Received, type ScriptedServer, startServer } from '../../support/http-server';
import { clientOf, envelope, failureOf, historyRow, productRow } from './fixtures';

let server: ScriptedServer;
let partner: ReturnType<typeof clientOf>;

// The books of a small partner. `between` runs after each page it has served.
let rows: string[];
let between: (pagesServed: number) => void;
let hitsShown: () => number;

beforeEach(async () => {
  rows = Array.from({ length: 10 }, (_, index) => `o-${index}`);
  between = () => {};
  hitsShown = () => rows.length;
  server = await startServer({ respond });
  partner = clientOf(server.url);
});

function respond({ path }: Received) {
  const { pathname, searchParams } = new URL(path, server.url);
  const page = Number(searchParams.get('page'));
  const limit = Number(searchParams.get('limit'));
  const shown = rows.slice((page - 1) * limit, page * limit);
  const pages = { page, total: Math.ceil(rows.length / limit), limit };
  const hits = hitsShown();
  between(server.received.length);
  const list = pathname.endsWith('/orders')
    ? { orders: shown.map((id) => historyRow(id)) }
    : { products: shown.map((id) => productRow(id)) };
  return { json: envelope({ hits, pages, ...list }) };
}

async function collect(source: AsyncIterable<{ id?: string | undefined }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id = 'no id' } of source) ids.push(id);
  return ids;
}

it('lists a quiet history with one request a page, and no further one', async () => {
  expect(await collect(partner.orders({ limit: 3, search: 'x' }))).toEqual(rows);
  expect(server.received.map(({ path }) => path.slice(path.indexOf('?')))).toEqual(
    [1, 2, 3, 4].map((page) => `?query=x&page=${page}&limit=3`),
  );
});

it('lists products with the largest page unless told otherwise, and keeps the filters on each page', async () => {
  rows = Array.from({ length: 501 }, (_, index) => `p-${index}`);
  expect(await collect(partner.products({ inStock: true }))).toEqual(rows);
  expect(server.received.map(({ path }) => path)).toEqual([
    '/v1/partners/products?in_stock=true&page=1&limit=500',
    '/v1/partners/products?in_stock=true&page=2&limit=500',
  ]);
});

it('shows an order once that has two rows, also where a page ends between them', async () => {
  const orders = Array.from({ length: 600 }, (_, index) => `o-${index}`);
  rows = [...orders.slice(0, 500), ...orders.slice(499)];
  expect(await collect(partner.orders({ search: 'x' }))).toEqual(orders);
  const limits = server.received.map(({ path }) => new URL(path, server.url).searchParams.get('limit'));
  expect(limits).toEqual(['500', '500', '469', '469']);
});

it('lists nothing with one request', async () => {
  rows = [];
  expect(await collect(partner.orders())).toEqual([]);
  expect(server.received).toHaveLength(1);
});

it('shows an order once though a new one pushes it to the next page, and shows the new one too', async () => {
  const known = [...rows];
  between = (served) => served <= 2 && rows.unshift(`new-${served}`);
  const listed = await collect(partner.orders({ limit: 3 }));
  expect(listed.toSorted()).toEqual([...known, 'new-1', 'new-2'].toSorted());
  // Four pages, and the first again for the new ones.
  expect(server.received.length).toBeLessThanOrEqual(6);
});

it('shows orders that are added at the end while it reads', async () => {
  between = (served) => served <= 4 && rows.push(`new-${served}`);
  const listed = await collect(partner.orders({ limit: 3 }));
  expect(listed).toEqual(rows);
});

it('misses none that slips to a page already read', async () => {
  const known = [...rows];
  // The last order moves to the front, as where the history is sorted by its last change.
  between = (served) => served === 1 && rows.unshift(rows.pop()!);
  expect((await collect(partner.orders({ limit: 3 }))).toSorted()).toEqual(known.toSorted());
});

it('misses none that slips forward as another goes, and does not take the one that went for it', async () => {
  // o-0 goes after page 2 was read: o-6 is then on page 2, which has been read.
  between = (served) => served === 2 && rows.shift();
  const listed = await collect(partner.products({ limit: 3 }));
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed).toEqual(expect.arrayContaining(rows));
});

it('misses none though rows go between one round and the next', async () => {
  // o-9 slips to page 2, already read; o-0 goes as the second round begins: the counts fit, yet o-9 is missing.
  between = (served) => {
    if (served === 2) rows.splice(4, 0, rows.pop()!);
    if (served === 4) rows.shift();
  };
  expect(await collect(partner.products({ limit: 3 }))).toEqual(expect.arrayContaining(rows));
});

it('says so if the pages never hold what the partner counts, rather than pass for complete', async () => {
  hitsShown = () => 11;
  const error = await failureOf(collect(partner.orders({ limit: 3 })));
  expect(error).toMatchObject({ kind: 'incomplete', found: 10, hits: 11, retryable: true });
  expect(server.received).toHaveLength(8);
});

it('comes to an end though rows keep going and coming', async () => {
  let next = 0;
  between = () => {
    rows.shift();
    if (next++ % 2) rows.push(`new-${next}`, `newer-${next}`);
  };
  const error = await rejectionOf(collect(partner.orders({ limit: 3 })));
  if (error) expect(error).toMatchObject({ kind: 'incomplete' });
});

it('stops after one page if the partner ignores the page parameter', async () => {
  const pages = { page: 1, total: 1_000_000, limit: 3 };
  server = await startServer();
  server.script({ json: envelope({ hits: 10, pages, orders: rows.slice(0, 3).map((id) => historyRow(id)) }) });
  const other = clientOf(server.url);
  expect(await failureOf(collect(other.orders({ limit: 3 })))).toMatchObject({ kind: 'incomplete', found: 3 });
  expect(server.received.length).toBeLessThan(10);
});

it('asks for no further page once the caller has seen enough', async () => {
  for await (const order of partner.orders({ limit: 3 })) if (order.id === 'o-1') break;
  expect(server.received).toHaveLength(1);
});
