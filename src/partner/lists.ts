import type { PartnerClient } from './client';
import { type ListPage, type PagedList, type ReadBackTo, Reading } from './list-reading';
import { type ReadRetry, withRetry } from './retry';
import type { ListRow, RowSet } from './row-set';
import { isUnreadable, type UnreadableRow } from './rows';
import { MAX_PAGE_SIZE } from './types';
import type { HistoryRow, OrderQuery, Product, ProductQuery } from './types';

/** How to read a long history. */
export interface HistoryOptions extends Omit<PagedList<HistoryRow>, 'operation' | 'readPage'> {
  /** How failed pages are retried. Default: not at all. */
  retry?: ReadRetry;
  /** Called after each page with how far the partner's clock is ahead of ours, in ms, including the response time. */
  onClock?: (aheadMs: number) => void;
}

type Partner = Pick<PartnerClient, 'listProducts' | 'listOrders'>;

const MAX_READINGS = 3;

export async function* allProducts(
  partner: Partner,
  query: ProductQuery,
  onUnreadable?: (row: UnreadableRow) => void,
): AsyncGenerator<Product> {
  const readPage = async (page: number) => {
    const { data } = await partner.listProducts({ ...query, limit: query.limit ?? MAX_PAGE_SIZE, page });
    return { ...data, rows: inOrder(data.products, data.unreadable) };
  };
  for await (const rows of newRows({ operation: 'listProducts', readPage })) {
    for (const row of rows) {
      if (isUnreadable(row)) onUnreadable?.(row);
      else yield row;
    }
  }
}

export async function* allOrders(partner: Partner, query: OrderQuery, maxPages?: number): AsyncGenerator<HistoryRow> {
  const readPage = (page: number) => readOrders(partner, { ...query, page });
  for await (const rows of newRows({ operation: 'listOrders', readPage, maxPages })) yield* rows;
}

export function ordersSince(
  partner: Partner,
  since: number,
  now: () => number,
  { maxPages, mustReachBack, retry, onPage, onRows, onClock }: HistoryOptions,
): AsyncGenerator<HistoryRow[]> {
  const readOnce = async (page: number) => {
    const askedAt = now();
    const { sentAtMs = askedAt, ...read } = await readOrders(partner, { page });
    onClock?.(sentAtMs - askedAt);
    return read;
  };
  const readPage = (page: number) => (retry ? withRetry(retry, () => readOnce(page)) : readOnce(page));
  return newRows({ operation: 'listOrders', readPage, maxPages, mustReachBack, onPage, onRows }, (newest) =>
    oldestPossible(since, newest, now()),
  );
}

/**
 * The oldest date that the partner may show for an order placed at `since` or later. Even if the partner's clock is
 * wrong, such an order is at most `now - since` older than the newest one. All are epoch ms.
 */
export function oldestPossible(since: number, newest: number, now: number): number {
  return Math.min(since, newest - (now - since));
}

async function readOrders(
  partner: Partner,
  query: OrderQuery,
): Promise<ListPage<HistoryRow> & { sentAtMs?: number | undefined }> {
  const { data, sentAtMs } = await partner.listOrders({ ...query, limit: query.limit ?? MAX_PAGE_SIZE });
  return { ...data, rows: inOrder(data.orders, data.unreadable), sentAtMs };
}

/** Puts the rows of a page back into the partner's order. */
function inOrder<Row>(readable: readonly Row[], unreadable: readonly UnreadableRow[]): (Row | UnreadableRow)[] {
  const misplaced = new Map(unreadable.map((row) => [row.at, row]));
  const others = readable.values();
  return Array.from(
    { length: readable.length + unreadable.length },
    (_, at) => misplaced.get(at) ?? (others.next().value as Row),
  );
}

/**
 * The rows of a list, each once, page by page. Rows added during the reading make as many others appear twice. Removed
 * rows, short pages, and more repeated rows than were added may hide rows; then the list is read again.
 *
 * @throws PartnerError `incomplete` if no reading was complete, a page was not the requested one, there are too many, or
 *   the list seems to be cut off
 */
async function* newRows<Row extends ListRow>(list: PagedList<Row>, readBackTo?: ReadBackTo): AsyncGenerator<Row[]> {
  const before: RowSet[] = [];
  for (let tries = 1; ; tries++) {
    const isLast = tries === MAX_READINGS;
    const reading = new Reading(list, isLast);
    for await (const rows of reading.pages(readBackTo)) {
      yield rows.filter(({ name }) => !before.some((earlier) => earlier.has(name))).map(({ row }) => row);
    }
    before.push(reading.shown);
    if (reading.isComplete()) return;
    if (isLast) throw reading.incomplete();
  }
}
