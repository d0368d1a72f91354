import { MAX_PAGE_SIZE } from './arguments';
import type { UnreadableProduct } from './history-rows';
import { allRows, type ListPage, type NamedRow, type ReadProgress, rowsSince } from './paged-list';
import { type ReadRetry, withRetry } from './retry';
import type { Answer, HistoryRow, OrderPage, OrderQuery, Product, ProductPage, ProductQuery } from './types';

/** How to read a long history. */
export interface HistoryOptions<Kept extends NamedRow = HistoryRow> {
  /** A history of more pages than that is given up. Default 20,000. */
  maxPages?: number;
  /** Reads a page again that may come later. Without it nothing is read again. */
  retry?: ReadRetry;
  /** Called after each page. */
  onPage?: (progress: ReadProgress) => void;
  /** Asked after each page, with its rows. Once it says so no more is read, and what was read so far is given. */
  enough?: (rows: readonly HistoryRow[]) => Promise<boolean>;
  /** What is kept of a row, under its own names: a hundred thousand rows are much to keep. Default: all of it. */
  keep?: (row: HistoryRow) => Kept;
}

interface Pages {
  listProducts(query: ProductQuery): Promise<Answer<ProductPage>>;
  listOrders(query: OrderQuery): Promise<Answer<OrderPage>>;
}

/**
 * The pages of the catalogue as one list, the largest pages unless the query says otherwise. A product that can't be read is left
 * out, and counts where the partner counts it.
 */
export async function* allProducts(
  partner: Pages,
  query: Omit<ProductQuery, 'page'>,
): AsyncGenerator<Product, void, undefined> {
  const rows = allRows<Product | (UnreadableProduct & { id?: undefined })>({
    operation: 'listProducts',
    async readPage(page, round) {
      const { data } = await partner.listProducts({ ...query, limit: query.limit ?? pageSizeIn(round), page });
      return { ...data, rows: [...data.products, ...data.unreadable] };
    },
  });
  for await (const row of rows) if (!('problems' in row)) yield row;
}

/** The pages of the order history as one list. */
export function allOrders(
  partner: Pages,
  query: Omit<OrderQuery, 'page'>,
  maxPages?: number,
): AsyncGenerator<HistoryRow> {
  const readPage = (page: number, round: number) => orderRows(partner, { ...query, page }, round);
  return allRows({ operation: 'listOrders', maxPages, readPage });
}

/** The order history back to an instant, epoch ms. */
export function ordersSince<Kept extends NamedRow>(
  partner: Pages,
  since: number,
  { maxPages, retry, onPage, enough, keep }: HistoryOptions<Kept>,
): Promise<Kept[]> {
  const readOnce = (page: number, round: number) => orderRows(partner, { page }, round);
  const readPage = (page: number, round: number) =>
    retry ? withRetry(retry, () => readOnce(page, round)) : readOnce(page, round);
  return rowsSince({ operation: 'listOrders', maxPages, onPage, readPage, enough, keep }, since);
}

async function orderRows(partner: Pages, query: OrderQuery, round: number): Promise<ListPage<HistoryRow>> {
  const { data } = await partner.listOrders({ ...query, limit: query.limit ?? pageSizeIn(round) });
  const rows: HistoryRow[] = [...data.orders];
  for (const row of data.unreadable) rows.splice(row.at, 0, row);
  return { ...data, rows };
}

/** A prime that divides no size: where one round's pages end, those of the next do not, in a list of fewer than 200,000 rows. */
const SMALLER_BY_ROUND = 31;

/** The largest pages in the first round, which is mostly the only one. */
function pageSizeIn(round: number): number {
  return MAX_PAGE_SIZE - SMALLER_BY_ROUND * (round - 1);
}
