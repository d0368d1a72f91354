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
      fc.asyncProperty(history, fc.nat(), async ({ count, newestFirst, since, changes }, place) => {
        const list = historyOf(count, newestFirst, (rows, reads) => {
          for (let gone = 0; gone < (changes[reads - 1] ?? 0); gone++) rows.splice(place % (rows.length || 1), 1);
        });

        const found = await outcomeOf(rowsSince(list, since * 60_000));

        const ids = found?.map(({ id }) => id);
        const staying = list.rows.filter((one) => one.createdAt >= row(since).createdAt).map(({ id }) => id);
        if (ids) expect(ids).toEqual(expect.arrayContaining(staying));
      }),
    );
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
      async readPage(page) {
        const read = await readPage(page);
        return { ...read, pages: { ...read.pages, total: 3 } };
      },
    };
    expect(await outcomeOf(rowsSince(list, 60 * 60_000))).toBeUndefined();
  });

  it('gives up at once where a page is not the one that was asked for, or there are too many', async () => {
    const { readPage } = historyOf(50, true);
    const stuck: PagedList<Row> = { operation: 'listOrders', readPage: () => readPage(1) };
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
