import * as fc from 'fast-check';
import { allOrders, type HistoryOptions, ordersSince } from '../../../src/partner/lists';
import { newestEndOf } from '../../../src/partner/rows';
import type { HistoryOrder, HistoryRow, OrderQuery } from '../../../src/partner/types';
import { clientOf, collect, envelope, failureOf, historyRow, listServer, productRow, serverWith } from './fixtures';

const MINUTE = 60_000;

function row(minute: number, more: { referenceId?: string; createdAt?: string } = {}): HistoryRow {
  const createdAt = new Date(minute * MINUTE).toISOString();
  return { id: `o-${minute}`, referenceId: `r-${minute}`, status: 'PENDING', item: undefined, createdAt, ...more };
}

interface Lies {
  hits?: number;
  total?: number;
  /** Which page is served instead of the requested one, and the page number shown on it. */
  serves?: (page: number) => { page: number; shownAs: number };
}

/** A history in pages of five. `change` runs after each served page. */
function historyOf(rows: HistoryRow[], lies: Lies = {}, change: (reads: number) => void = () => undefined) {
  const asked: number[] = [];
  const partner = {
    listProducts: () => Promise.reject(new Error('not asked for')),
    async listOrders({ page = 1, limit = 500 }: OrderQuery) {
      asked.push(page);
      const size = Math.min(limit, 5);
      const served = lies.serves?.(page) ?? { page, shownAs: page };
      const shown = rows.slice((served.page - 1) * size, served.page * size);
      const orders = shown.filter((one): one is HistoryOrder => !('problems' in one));
      const unreadable = shown.flatMap((one, at) => ('problems' in one ? [{ ...one, at }] : []));
      const pages = { page: served.shownAs, total: lies.total ?? Math.ceil(rows.length / size), limit: size };
      const data = { hits: lies.hits ?? rows.length, orders, unreadable, pages };
      change(asked.length);
      return { data, traceId: undefined, sentAtMs: 5_000 };
    },
  };
  const whole = () => collect(allOrders(partner, {}));
  const pagesSince = (minute: number, options: HistoryOptions = {}) =>
    ordersSince(partner, minute * MINUTE, () => (rows.length - 1) * MINUTE, options);
  const since = async (minute: number, options?: HistoryOptions) => (await collect(pagesSince(minute, options))).flat();
  return { partner, asked, whole, since, pagesSince };
}

/** A partner that shows these readable rows on each page. */
function partnerOf(
  { hits, total, limit = 5 }: { hits: number; total: number; limit?: number },
  rowsOf: (page: number) => HistoryRow[],
) {
  return {
    listProducts: () => Promise.reject(new Error('not asked for')),
    async listOrders({ page = 1 }: OrderQuery) {
      const orders = rowsOf(page) as HistoryOrder[];
      const data = { hits, orders, unreadable: [], pages: { page, total, limit } };
      return { data, traceId: undefined, sentAtMs: undefined };
    },
  };
}

const minutes = (count: number) => Array.from({ length: count }, (_, minute) => row(minute));
const idsOf = (rows: readonly HistoryRow[]) => rows.map(({ id }) => id);
const incomplete = { kind: 'incomplete', retryable: true };

it('keeps its other rows if one is nested more deeply than any text can show', async () => {
  const deep = historyRow('o-2', { status: 'DEEP' });
  const rows = [historyRow('o-1'), deep, historyRow('o-3')];
  const page = JSON.stringify(envelope({ hits: 3, orders: rows, pages: { page: 1, total: 1, limit: 500 } }));
  const body = page.replace('"DEEP"', '['.repeat(50_000) + ']'.repeat(50_000));
  const server = await serverWith({ body });
  expect(idsOf(await collect(clientOf(server.url).orders()))).toEqual(['o-1', 'o-2', 'o-3']);
});

describe('a complete list', () => {
  it('is read in its own order with one request per page, and no more pages than the caller needs', async () => {
    const { asked, whole, partner } = historyOf(minutes(12));
    expect(idsOf(await whole())).toEqual(idsOf(minutes(12)));
    expect(asked).toEqual([1, 2, 3]);
    for await (const { id } of allOrders(partner, {})) if (id === 'o-1') break;
    expect(asked).toEqual([1, 2, 3, 1]);
    expect(await historyOf([]).whole()).toEqual([]);
  });

  it('of products uses the largest pages by default, and sends the filters with each page', async () => {
    const all = Array.from({ length: 501 }, (_, index) => productRow(`p-${index}`));
    const server = await listServer('products', () => all);
    expect(await collect(clientOf(server.url).products({ inStock: true }))).toHaveLength(501);
    const asked = [1, 2].map((page) => `/v1/partners/products?in_stock=true&page=${page}&limit=500`);
    expect(server.received.map(({ path }) => path)).toEqual(asked);
  });

  it('shows an order with several rows once, even across pages, and is not read again because of it', async () => {
    for (let at = 1; at < 12; at++) {
      const { asked, whole } = historyOf(minutes(12).toSpliced(at, 0, row(at), row(at)));
      expect(idsOf(await whole())).toEqual(idsOf(minutes(12)));
      expect(asked).toEqual([1, 2, 3]);
    }
  });

  const withItem = (one: HistoryRow, item: number) =>
    ({ ...one, item: { id: `p-${item}`, quantity: 1 } }) as HistoryRow;
  const itemised = (count: number) => Array.from({ length: count }, (_, at) => withItem(row(3), at));

  it.each([6, 10, 14])('shows an order with %i rows, one per item, once, even if they fill a page', async (count) => {
    for (const all of [minutes(8).toSpliced(3, 1, ...itemised(count)), itemised(count)]) {
      for (const rows of [all, all.toReversed()]) {
        const ids = [...new Set(idsOf(rows))];
        const { asked, whole, since } = historyOf(rows);
        expect(idsOf(await whole())).toEqual(ids);
        expect(asked).toHaveLength(Math.ceil(rows.length / 5));
        expect(new Set(idsOf(await since(0)))).toEqual(new Set(ids));
      }
    }
  });

  it('shows an order twice if only some of its rows cost money', async () => {
    const rows = ['FAILED', 'FAILED', 'COMPLETED', 'PENDING'].map((status) => ({ ...row(1), status }) as HistoryRow);
    const shown = await historyOf(rows).whole();
    expect(shown).toMatchObject([{ status: 'FAILED' }, { status: 'COMPLETED' }]);
  });

  it.each([
    ['orders', 5],
    ['rows', 5],
    ['orders', 100],
  ])(
    'may have pages of five orders with a row per item, and count %s, even if it states that a page has %i',
    async (counted, limit) => {
      const rows = minutes(23).flatMap((one, at) => (at % 4 === 0 ? [withItem(one, 1), withItem(one, 2)] : [one]));
      const pageOf = (page: number) => rows.filter(({ id = '' }) => Math.floor(Number(id.slice(2)) / 5) === page - 1);
      const hits = counted === 'orders' ? 23 : rows.length;
      const list = (short: number) =>
        partnerOf({ hits, total: 5, limit }, (page) => (page === short ? pageOf(page).slice(2) : pageOf(page)));
      expect(idsOf(await collect(allOrders(list(0), {})))).toEqual(idsOf(minutes(23)));
      for (const short of [2, 5])
        expect(await failureOf(collect(allOrders(list(short), {})))).toMatchObject(incomplete);
    },
  );

  it('with pages of five rows, one per item, is incomplete if a page lacks rows', async () => {
    const rows = minutes(13).flatMap((one, at) => (at < 2 ? [withItem(one, 1), withItem(one, 2)] : [one]));
    const list = (short: number) =>
      partnerOf({ hits: 15, total: 3 }, (page) => rows.slice((page - 1) * 5, page * 5).slice(page === short ? 2 : 0));
    expect(idsOf(await collect(allOrders(list(0), {})))).toEqual(idsOf(minutes(13)));
    for (const short of [2, 3]) expect(await failureOf(collect(allOrders(list(short), {})))).toMatchObject(incomplete);
  });

  it('with a row per item is incomplete if its pages repeat the first one, even while statuses change', async () => {
    const rows = itemised(14);
    const serves = (page: number) => ({ page: 1, shownAs: page });
    const history = historyOf(rows, { serves }, (reads) =>
      rows.forEach((one, at) => (rows[at] = { ...one, status: `STATUS_${reads}` })),
    );
    expect(await failureOf(history.whole())).toMatchObject(incomplete);
  });

  it('shows an order under each of its references, and every row without an id, so that any search finds it', async () => {
    const nameless = { at: 0, digest: 'd', problems: ['object'] };
    const rows = [row(1), row(1, { referenceId: 'other' }), nameless, nameless, row(0), row(2), row(3), nameless];
    const names = (await historyOf(rows).whole()).map(({ id = 'none' }) => id);
    expect(names.toSorted()).toEqual(['none', 'none', 'none', 'o-0', 'o-1', 'o-1', 'o-2', 'o-3']);
  });

  it.each<[string, Lies, boolean]>([
    ['counts at most 20 rows', { hits: 20 }, false],
    ['drops an old row for each new one', {}, true],
  ])('may grow while it is read, even if the partner %s', async (_, lies, drops) => {
    for (const newestFirst of [true, false]) {
      const rows = newestFirst ? minutes(23).toReversed() : minutes(23);
      let next = 23;
      const history = historyOf(rows, lies, (reads) => {
        if (reads > 4) return;
        rows.splice(newestFirst ? 0 : rows.length, 0, row(next++));
        if (drops) rows.splice(newestFirst ? -1 : 0, 1);
      });
      expect(idsOf(await history.since(10))).toEqual(expect.arrayContaining(idsOf(minutes(23).slice(10))));
      expect(history.asked.length).toBeLessThanOrEqual(7);
    }
  });

  it.each<[string, HistoryRow[], boolean]>([
    ['sorted by their last change', minutes(20).toReversed(), false],
    ['not sorted, and grows behind it', minutes(20).toSpliced(1, 0, row(30)), true],
  ])('shows a row that moves to the front, if the rows are %s', async (_, rows, grows) => {
    const { whole } = historyOf(rows, {}, (reads) => {
      if (reads !== 1) return;
      rows.unshift(...rows.splice(7, 1));
      if (grows) rows.push(row(40));
    });
    expect(new Set(idsOf(await whole()))).toEqual(new Set(idsOf(rows)));
  });

  it('is read again if a row moves up and another is added, so that a second one appears twice', async () => {
    const rows = minutes(20).toReversed();
    const { asked, whole } = historyOf(rows, {}, (reads) => {
      if (reads === 1) rows.unshift(row(20));
      if (reads === 2) rows.splice(6, 0, ...rows.splice(16, 1));
    });
    expect(idsOf(await whole())).toContain('o-4');
    expect(asked).toEqual([1, 2, 3, 4, 5, 1, 1, 2, 3, 4, 5]);
  });

  it('without dates may grow in the middle', async () => {
    const dateless = (id: string) => ({ id, referenceId: id, status: 'PENDING', item: undefined }) as HistoryRow;
    const rows = Array.from({ length: 30 }, (_, at) => dateless(`p-${at}`));
    const { asked, whole } = historyOf(rows, {}, (reads) => reads === 3 && rows.splice(6, 0, dateless('new')));
    expect(await whole()).toHaveLength(30);
    expect(asked).toHaveLength(7);
  });

  it('is shown as far as possible if a page lacks rows each time', async () => {
    const serves = (page: number) => ({ page: page === 2 ? 9 : page, shownAs: page });
    const { pagesSince } = historyOf(minutes(40), { serves });
    const shown: HistoryRow[] = [];
    const reading = (async () => {
      for await (const rows of pagesSince(0)) shown.push(...rows);
    })();
    expect(await failureOf(reading)).toMatchObject(incomplete);
    expect(shown).toHaveLength(35);
  });

  it('is incomplete if rows of equal date change places between two pages, unless it shows all of them', async () => {
    const ties = fc.record({
      seed: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      sameMinute: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(ties, fc.boolean(), async ({ seed, sameMinute }, readsAll) => {
        const orders = Array.from({ length: 30 }, (_, at) =>
          row(at, { createdAt: row(Math.floor((29 - at) / sameMinute)).createdAt }),
        );
        // Each page has its own order of rows with equal dates, as with LIMIT and OFFSET in SQL.
        const sorted = (page: number) =>
          orders.toSorted((a, b) => {
            const key = (one: HistoryRow) =>
              (seed[(Number(one.id!.slice(2)) + page * 7) % 30] ?? 0) * 31 + Number(one.id!.slice(2));
            return Date.parse(b.createdAt!) - Date.parse(a.createdAt!) || key(a) - key(b);
          });
        const partner = partnerOf({ hits: 30, total: 6 }, (page) => sorted(page).slice((page - 1) * 5, page * 5));
        const reading = readsAll
          ? collect(allOrders(partner, {}))
          : collect(ordersSince(partner, 0, () => 0, {})).then((pages) => pages.flat());
        const shown = await reading.catch((error: unknown) => void expect(error).toMatchObject(incomplete));
        if (shown) expect(new Set(idsOf(shown)).size).toBe(30);
      }),
    );
  });

  it('is read again if rows disappear meanwhile, and never counts a removed row as missed', async () => {
    const rows = minutes(12);
    const { asked, whole } = historyOf(rows, {}, (reads) => reads === 2 && rows.shift());
    expect(idsOf(await whole())).toEqual(expect.arrayContaining(idsOf(rows)));
    expect(asked).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it.each<[string, Lies, number]>([
    ['contain fewer rows than the stated count', { hits: 13 }, 9],
    ['are short in the middle', { serves: (page) => ({ page: page === 2 ? 3 : page, shownAs: page }) }, 7],
    ['repeat the first one', { serves: (page) => ({ page: 1, shownAs: page }) }, 6],
    ['are not the requested ones', { serves: () => ({ page: 1, shownAs: 1 }) }, 2],
    ['are far fewer than stated', { total: 1_000_000, hits: 5_000_000 }, 10],
  ])('is reported as incomplete after a bounded number of requests if its pages %s', async (_, lies, requests) => {
    const { asked, whole } = historyOf(minutes(12), lies);
    expect(await failureOf(whole())).toMatchObject(incomplete);
    expect(asked).toHaveLength(requests);
  });

  it('always ends, even if rows keep appearing and disappearing', async () => {
    const rows = minutes(12);
    const { whole, asked } = historyOf(rows, {}, (reads) => rows.splice(0, 2, ...(reads % 2 ? [] : minutes(2))));
    expect(await whole().catch(({ kind }: { kind: string }) => kind)).toBe('incomplete');
    expect(asked.length).toBeLessThan(12);
  });
});

const histories = fc.record({
  count: fc.integer({ min: 0, max: 60 }),
  newestFirst: fc.boolean(),
  since: fc.integer({ min: 0, max: 60 }),
  /** How many orders are added or removed after each page. */
  changes: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 }),
  place: fc.nat(),
});

describe('a list that is read back to a given time', () => {
  it('misses no row and shows none twice while rows are added at the newest end', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ count, newestFirst, since, changes }) => {
        const rows = newestFirst ? minutes(count).toReversed() : minutes(count);
        let next = count;
        const history = historyOf(rows, {}, (reads) => {
          for (let more = 0; more < (changes[reads - 1] ?? 0); more++)
            rows.splice(newestFirst ? 0 : next, 0, row(next++));
        });
        const ids = idsOf(await history.since(since));
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(idsOf(minutes(count).slice(since))));
      }),
    );
  });

  it('misses no remaining row while others are removed anywhere, or is reported as incomplete', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), async ({ count, newestFirst, since, changes, place }, readsAll) => {
        const rows = newestFirst ? minutes(count).toReversed() : minutes(count);
        const history = historyOf(rows, {}, (reads) => {
          if (rows.length > 0) rows.splice(place % rows.length, changes[reads - 1] ?? 0);
        });
        const from = readsAll ? 0 : since;
        const found = await (readsAll ? history.whole() : history.since(since)).catch((error: unknown) => {
          expect(error).toMatchObject(incomplete);
        });
        const staying = rows.filter(({ createdAt = '' }) => createdAt >= row(from).createdAt!);
        if (found) expect(idsOf(found)).toEqual(expect.arrayContaining(idsOf(staying)));
      }),
    );
  });

  it.each([
    ['newest first', minutes(500).toReversed(), 5, [481, 499]],
    ['oldest first', minutes(500), 6, [481, 499]],
  ])('%s, is read no further than necessary', async (_, rows, requests, shown) => {
    const { asked, since } = historyOf(rows);
    const ids = idsOf(await since(481));
    expect(asked).toHaveLength(requests);
    for (const minute of shown) expect(ids).toContain(`o-${minute}`);
  });

  it('misses no young order behind a page of open orders whose last one is old', async () => {
    const open = [29, 28, 27, 26, 1].map((minute) => row(minute));
    const completed = minutes(26).toReversed();
    const { asked, since } = historyOf([...open, ...completed.filter(({ id }) => id !== 'o-1')]);
    expect(idsOf(await since(10))).toEqual(expect.arrayContaining(idsOf(minutes(26).slice(10))));
    expect(asked).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('misses no young order before a page of open orders whose first one is old', async () => {
    const completed = minutes(26).filter(({ id }) => id !== 'o-1');
    const { asked, since } = historyOf([...completed, ...[1, 26, 27, 28, 29].map((minute) => row(minute))]);
    expect(idsOf(await since(10))).toEqual(expect.arrayContaining(idsOf(minutes(26).slice(10))));
    expect(asked).toEqual([1, 6, 5, 4, 3, 2]);
  });

  it.each([true, false])(
    'with a page of rows without a date is read beyond it (newest first: %s)',
    async (newestFirst) => {
      const rows: HistoryRow[] = newestFirst ? minutes(30).toReversed() : minutes(30);
      const from = newestFirst ? 5 : 20;
      for (let at = from; at < from + 5; at++) rows[at] = { at, id: `o-${at}`, problems: ['created_at'] };
      expect(idsOf(await historyOf(rows).since(15))).toContain('o-15');
    },
  );

  it('is read completely if it is not sorted by time', async () => {
    const rows = [...minutes(20).slice(10), ...minutes(10)].map((one, at) => (at === 1 ? row(30) : one));
    const { asked, since } = historyOf(rows);
    await since(15);
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  it.each<[string, Lies]>([
    ['a page is short', { serves: (page) => ({ page: page === 2 ? 5 : page, shownAs: page }) }],
    ['the last page repeats the first', { serves: (page) => ({ page: 1, shownAs: page }) }],
  ])('is reported as incomplete if %s', async (_, lies) => {
    for (const rows of [minutes(21), minutes(21).toReversed()])
      expect(await failureOf(historyOf(rows, lies).since(0))).toMatchObject(incomplete);
  });

  it('is read no further than its reader wants, and shows how far the clock of the partner is ahead', async () => {
    const onClock = jest.fn();
    const { asked, pagesSince } = historyOf(minutes(20).toReversed());
    for await (const rows of pagesSince(0, { onClock })) if (idsOf(rows).includes('o-12')) break;
    expect(asked).toEqual([1, 2]);
    expect(onClock).toHaveBeenCalledWith(5_000 - 19 * MINUTE);
  });

  it('that must be read back is incomplete if it ends with a full page of younger orders, newest first', async () => {
    const cutOff = minutes(40).slice(20);
    const mustReachBack = true;
    expect(await failureOf(historyOf(cutOff.toReversed()).since(10, { mustReachBack }))).toMatchObject(incomplete);
    expect(await historyOf(cutOff.toReversed()).since(10)).toHaveLength(20);
    expect(await historyOf(cutOff.toReversed()).since(30, { mustReachBack })).toHaveLength(15);
    expect(await historyOf(cutOff.slice(1).toReversed()).since(10, { mustReachBack })).toHaveLength(19);
    expect(await historyOf(cutOff).since(10, { mustReachBack })).toHaveLength(20);
  });

  it('is abandoned if it has too many pages', async () => {
    const { asked, since } = historyOf(minutes(50).toReversed());
    expect(await failureOf(since(0, { maxPages: 4 }))).toMatchObject(incomplete);
    expect(asked).toHaveLength(4);
  });
});

it.each([
  ['first', [3, 2, 2, 1]],
  ['last', [1, 1, 2]],
  ['neither', [1, 3, 2]],
  ['first', [3, 2, 2.1, 1]],
  ['last', [1, 2, 1.9, 3]],
  ['neither', [1, 1.1, 1]],
  ['unknown', [1, 1]],
  ['unknown', []],
])('the newest end is %s for rows at minutes %j', (end, times) => {
  expect(newestEndOf(times.flatMap((minute) => [row(minute), {}]))).toBe(end);
});
