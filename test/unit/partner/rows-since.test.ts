import * as fc from 'fast-check';
import { allRows, type PagedList, rowsSince } from '../../../src/partner/paged-list';

const LIMIT = 5;

interface Row {
  id: string;
  createdAt: string;
}

function row(minute: number, name = 'o'): Row {
  return { id: `${name}-${minute}`, createdAt: new Date(minute * 60_000).toISOString() };
}

/** A history of one order a minute, in pages of five, that is changed after each page it has shown. */
function historyOf(
  count: number,
  newestFirst: boolean,
  change: (rows: Row[], reads: number) => void = () => undefined,
): PagedList<Row> & { rows: Row[]; asked: number[]; atLastPage: () => string[] } {
  const rows = Array.from({ length: count }, (_, minute) => row(minute));
  const asked: number[] = [];
  let atLastPage: string[] = [];
  return {
    rows,
    asked,
    /** What there was when the last page so far was shown. */
    atLastPage: () => atLastPage,
    operation: 'listOrders',
    async readPage(page) {
      asked.push(page);
      atLastPage = rows.map(({ id }) => id);
      const shown = newestFirst ? rows.toReversed() : [...rows];
      const pages = { page, total: Math.ceil(rows.length / LIMIT), limit: LIMIT };
      const read = { hits: rows.length, rows: shown.slice((page - 1) * LIMIT, page * LIMIT), pages };
      change(rows, asked.length);
      return read;
    },
  };
}

async function outcomeOf(reading: Promise<Row[]>): Promise<Row[] | undefined> {
  return reading.catch((error: unknown) => {
    expect(error).toMatchObject({ kind: 'incomplete' });
    return undefined;
  });
}

const history = fc.record({
  count: fc.integer({ min: 0, max: 60 }),
  newestFirst: fc.boolean(),
  since: fc.integer({ min: 0, max: 60 }),
  // How many orders come in (or go) after each page.
  changes: fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 12 }),
});

/** The orders that have two rows. */
const pairs = fc.uniqueArray(fc.nat(60), { maxLength: 10 });

describe('a list read back to an instant', () => {
  it.each([
    [false, [1, 8]],
    [true, [1]],
  ])('reads no page more once it has seen enough, newest first: %s', async (newestFirst, asked) => {
    const list = historyOf(40, newestFirst);
    const enough = async (rows: readonly Row[]) => rows.some(({ id }) => id === 'o-37');
    expect((await rowsSince({ ...list, enough }, 0)).map(({ id }) => id)).toContain('o-37');
    expect(list.asked).toEqual(asked);
  });

  it('misses no row, and shows none twice, while rows come in at the newest end', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ count, newestFirst, since, changes }) => {
        const list = historyOf(count, newestFirst, (rows, reads) => {
          const next = rows.length;
          for (let more = 0; more < (changes[reads - 1] ?? 0); more++) rows.push(row(next + more));
        });
        const before = list.rows.filter((one) => one.createdAt >= row(since).createdAt).map(({ id }) => id);

        const found = await rowsSince(list, since * 60_000);

        const ids = found.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(before));
      }),
    );
  });

  it('misses no row that stays while others go, wherever they stood, or says that it is incomplete', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), pairs, async ({ count, newestFirst, since, changes }, place, twice) => {
        const list = historyOf(count, newestFirst, (rows, reads) => {
          for (let gone = 0; gone < (changes[reads - 1] ?? 0); gone++) rows.splice(place % (rows.length || 1), 1);
        });
        for (const minute of twice.filter((one) => one < count)) list.rows.splice(minute, 0, row(minute));
        list.rows.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));

        const found = await outcomeOf(rowsSince(list, since * 60_000));

        const ids = found?.map(({ id }) => id);
        const staying = list.rows.filter((one) => one.createdAt >= row(since).createdAt).map(({ id }) => id);
        if (ids) expect(ids).toEqual(expect.arrayContaining(staying));
      }),
    );
  });

  it('keeps of a row only what it is asked to keep: a hundred thousand whole rows would be too much', async () => {
    const list = { ...historyOf(12, true), keep: ({ id }: Row) => ({ id }) };
    expect(await rowsSince(list, 10 * 60_000)).toContainEqual({ id: 'o-10' });
  });

  it.each([true, false])('reads no further back than it has to (newest first: %p)', async (newestFirst) => {
    const list = historyOf(500, newestFirst);
    const found = await rowsSince(list, 480 * 60_000);
    expect(found.filter(({ createdAt }) => createdAt >= row(480).createdAt)).toHaveLength(20);
    expect(list.asked.length).toBeLessThanOrEqual(20 / LIMIT + 2);
  });

  it('shows those too that come in at the end that was read first', async () => {
    const list = historyOf(20, false, (rows, reads) => reads === 3 && rows.push(row(20), row(21)));
    expect((await rowsSince(list, 0)).map(({ id }) => id)).toEqual(expect.arrayContaining(['o-20', 'o-21']));
  });

  it('gives up a list whose last page is empty: where the newest rows are can not be told', async () => {
    const { readPage } = historyOf(5, false);
    const list: PagedList<Row> = {
      operation: 'listOrders',
      async readPage(page, round) {
        const read = await readPage(page, round);
        return { ...read, pages: { ...read.pages, total: 3 } };
      },
    };
    expect(await outcomeOf(rowsSince(list, 60 * 60_000))).toBeUndefined();
  });

  it('gives up at once where a page is not the one that was asked for, or there are too many', async () => {
    const { readPage } = historyOf(50, true);
    const stuck: PagedList<Row> = { operation: 'listOrders', readPage: (_, round) => readPage(1, round) };
    expect(await outcomeOf(rowsSince(stuck, 0))).toBeUndefined();

    const long = historyOf(50, true);
    expect(await outcomeOf(rowsSince({ ...long, maxPages: 4 }, 0))).toBeUndefined();
    expect(long.asked).toHaveLength(4);
  });
});

it('a whole list misses no row while rows come in or go, or says that it is incomplete', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), fc.nat(), async ({ count, newestFirst, changes }, grows, place) => {
      const list = historyOf(count, newestFirst, (rows, reads) => {
        for (let change = 0; change < (changes[reads - 1] ?? 0); change++) {
          if (grows) rows.push(row(rows.length));
          else rows.splice(place % (rows.length || 1), 1);
        }
      });
      const ids: string[] = [];
      const collect = async () => {
        for await (const { id } of allRows(list)) ids.push(id);
        return [];
      };

      const whole = await outcomeOf(collect());

      expect(new Set(ids).size).toBe(ids.length);
      if (whole) expect(ids).toEqual(expect.arrayContaining(list.atLastPage()));
    }),
  );
});

describe('a list that shows an order in several rows', () => {
  /** `rows` in pages of eleven, then of ten and so on, as rounds have them. */
  function listOf<Some extends Row>(
    rows: readonly Some[],
    { hits = rows.length, show = (page: Some[]) => page }: { hits?: number; show?: (page: Some[]) => Some[] } = {},
  ): PagedList<Some> {
    return {
      operation: 'listOrders',
      async readPage(page, round) {
        const limit = 12 - round;
        const shown = rows.slice((page - 1) * limit, page * limit);
        return { hits, rows: show(shown), pages: { page, total: Math.ceil(rows.length / limit), limit } };
      },
    };
  }
  const rowsOf = (count: number) => Array.from({ length: count }, (_, minute) => row(minute));
  const whole = async (list: PagedList<Row>) => {
    const ids: string[] = [];
    for await (const { id } of allRows(list)) ids.push(id);
    return ids;
  };
  const since = async (list: PagedList<Row>, minute = 0) =>
    (await rowsSince(list, minute * 60_000)).map(({ id }) => id);

  it.each([
    ['whole', 0, whole],
    ['back to its beginning', 0, since],
    ['back to an instant', 25, (list: PagedList<Row>) => since(list, 25)],
  ])('is read %s, each order once, also where a page ends between two rows of one', async (_, from, read) => {
    for (let at = 1; at < 45; at++) {
      const rows = rowsOf(45).map((one, minute) => (minute === at ? row(at - 1) : one));
      for (const list of [listOf(rows), listOf(rows.toReversed())]) {
        const ids = await read(list);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(rows.slice(from).map(({ id }) => id)));
      }
    }
  });

  it.each([
    ['oldest', rowsOf(45)],
    ['newest', rowsOf(45).toReversed()],
  ])('is incomplete where a page repeats the row before it in the place of another, the %s first', async (_, rows) => {
    const repeating = listOf(rows, {
      show: (page) => page.map((one, at) => (at === 0 ? (rows[rows.indexOf(one) - 1] ?? one) : one)),
    });
    await expect(since(repeating)).rejects.toMatchObject({ kind: 'incomplete' });
  });

  it('is incomplete where the partner counts orders and one of them is missing, however many rows there are', async () => {
    const rows = rowsOf(45).flatMap((one) => [one, one]);
    expect(await whole(listOf(rows, { hits: 45 }))).toHaveLength(45);
    const show = (page: Row[]) => page.filter(({ id }) => id !== 'o-30');
    await expect(whole(listOf(rows, { hits: 45, show }))).rejects.toMatchObject({ kind: 'incomplete', found: 44 });
  });

  it.each([
    ['whole', 15, whole],
    ['back to its beginning', 3, since],
  ])(
    'misses no row of a list that is read %s where a second row of another would stand in for it',
    async (_, to, read) => {
      // The partner counts orders, shows o-1 in two rows, and o-25 moves after the second page was read, so that one slips past.
      const order = [0, 1, 1, ...Array.from({ length: 24 }, (__, at) => at + 2)];
      const moved = [...order.slice(0, to), 25, ...order.slice(to, -1)];
      const rows = order.map((minute) => row(minute));
      const list = listOf(rows, { hits: 26 });
      let reads = 0;
      const readPage: typeof list.readPage = async (page, round) => {
        const answer = await list.readPage(page, round);
        if (++reads === 2) rows.splice(0, rows.length, ...moved.map((minute) => row(minute)));
        return answer;
      };
      expect(new Set(await read({ ...list, readPage })).size).toBe(26);
    },
  );

  it('is incomplete where a row is missing, and rows without an id do not count once more in pages of another size', async () => {
    const nameless = { id: undefined, digest: 'd' } as unknown as Row;
    const rows = rowsOf(45).map((one, minute) => (minute % 9 === 4 ? nameless : one));
    expect(await whole(listOf(rows))).toHaveLength(41);
    await expect(whole(listOf(rows, { hits: 46 }))).rejects.toMatchObject({ kind: 'incomplete', found: 45 });
  });

  it('is incomplete where a row is missing, and a second row of another that went does not stand in for it', async () => {
    const after = [
      [3, 0, 1, 2, 4, 5, 6, 7, 8, 9],
      [0, 1, 2, 5, 4, 6, 7, 8, 9, 3],
      // o-4 is pushed to the second page, and o-3 comes to the first, which has been read.
      [3, 0, 1, 2, 5, 4, 6, 7, 8, 9],
    ];
    const list = historyOf(0, false, (rows, reads) => {
      const order = after[reads - 1];
      if (order) rows.splice(0, rows.length, ...order.map((minute) => row(minute)));
    });
    list.rows.push(...[0, 1, 2, 4, 4, 5, 6, 7, 8, 9, 3].map((minute) => row(minute)));
    await expect(whole(list)).rejects.toMatchObject({ kind: 'incomplete', found: 9 });
  });

  it('gives an order under each reference that it is shown with: a search by either must find it', async () => {
    const one = { ...row(0), referenceId: 'A' };
    const other = { ...one, referenceId: 'B' };
    expect(await rowsSince(listOf([one, other]), 0)).toEqual([one, other]);
    expect(await whole(listOf([one, other]))).toEqual(['o-0', 'o-0']);
  });
});
