import type { PartnerClient } from './client';
import { PartnerError, type PartnerOperation } from './errors';
import { type ReadRetry, withRetry } from './retry';
import { digestOf, isUnreadable, type NewestEnd, newestEndOf, newestOf, timesOf, type UnreadableRow } from './rows';
import { MAX_PAGE_SIZE } from './types';
import type { HistoryOrder, HistoryRow, OrderQuery, Product, ProductQuery } from './types';

/** How far a list has been read: the current page, the number of pages, and the pages and rows read so far. */
export type ReadProgress = Record<'page' | 'pages' | 'read' | 'rows', number>;

/** How to read a long history. */
export interface HistoryOptions<Kept = HistoryRow> {
  /** A longer history fails with `incomplete`. Default 20,000. */
  maxPages?: number;
  /** How failed pages are retried. Default: not at all. */
  retry?: ReadRetry;
  /** Called after each page. */
  onPage?: (progress: ReadProgress) => void;
  /** Called after each page with its new rows. If it returns true, reading stops there. */
  enough?: (rows: readonly HistoryRow[]) => Promise<boolean>;
  /** Called with every row of each page, even if an order has several. */
  onRows?: (rows: readonly HistoryRow[]) => void;
  /** The part of a row to keep, to save memory. Default: the whole row. */
  keep?: (row: HistoryRow) => Kept;
}

export interface NewestOrders {
  /** In no particular order; some may appear twice. */
  rows: HistoryRow[];
  /** How far the partner's clock is ahead of ours, in ms, including the response time. 0 if unknown. */
  aheadMs: number;
}

type Partner = Pick<PartnerClient, 'listProducts' | 'listOrders'>;

const MAX_PAGES = 20_000;
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

export async function ordersSince<Kept>(
  partner: Partner,
  since: number,
  now: () => number,
  { maxPages, retry, onPage, onRows, enough, keep = (row) => row as Kept }: HistoryOptions<Kept>,
): Promise<Kept[]> {
  const readOnce = (page: number) => readOrders(partner, { page });
  const readPage = (page: number) => (retry ? withRetry(retry, () => readOnce(page)) : readOnce(page));
  const kept: Kept[] = [];
  for await (const rows of newRows({ operation: 'listOrders', readPage, maxPages, onPage, onRows }, (newest) =>
    oldestPossible(since, newest, now()),
  )) {
    for (const row of rows) kept.push(keep(row));
    if (await enough?.(rows)) break;
  }
  return kept;
}

/**
 * The oldest date that the partner may show for an order placed at `since` or later. Even if the partner's clock is
 * wrong, such an order is at most `now - since` older than the newest one. All are epoch ms.
 */
export function oldestPossible(since: number, newest: number, now: number): number {
  return Math.min(since, newest - (now - since));
}

/** Reads both ends of the history, unless the newest orders are clearly on the first page. */
export async function newestOrders(partner: Partner, sampleSize: number, now: () => number): Promise<NewestOrders> {
  const read = async (page: number) => {
    const askedAt = now();
    const { data, sentAtMs = askedAt } = await partner.listOrders({ limit: sampleSize, page });
    return { ...data, rows: [...data.orders, ...data.unreadable], aheadMs: Math.max(0, sentAtMs - askedAt) };
  };
  const first = await read(1);
  const { total } = first.pages;
  const last = total > 1 && newestEndOf(first.orders) !== 'first' ? await read(total) : undefined;
  // The last page may have only one row.
  const beforeLast = last && total > 2 && last.rows.length < sampleSize ? await read(total - 1) : undefined;
  const pages = [first, last, beforeLast].filter((page) => page !== undefined);
  return { rows: pages.flatMap(({ rows }) => rows), aheadMs: Math.max(...pages.map(({ aheadMs }) => aheadMs)) };
}

async function readOrders(partner: Partner, query: OrderQuery): Promise<ListPage<HistoryRow>> {
  const { data } = await partner.listOrders({ ...query, limit: query.limit ?? MAX_PAGE_SIZE });
  return { ...data, rows: inOrder(data.orders, data.unreadable) };
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

type ListRow = Partial<Pick<UnreadableRow, 'id' | 'referenceId' | 'createdAt' | 'digest'>> &
  Partial<Pick<Product, 'price' | 'currency'>> &
  Partial<Pick<HistoryOrder, 'item'>>;

interface ListPage<Row> {
  /** The number of rows on all pages. */
  hits: number;
  rows: Row[];
  pages: { page: number; total: number; limit: number };
}

interface PagedList<Row> extends Pick<HistoryOptions, 'maxPages' | 'onPage'> {
  operation: PartnerOperation;
  /** Pages start at 1. */
  readPage(page: number): Promise<ListPage<Row>>;
  onRows?: ((rows: readonly Row[]) => void) | undefined;
}

/** Returns the oldest date to read, given the newest date in the list. Both are epoch ms. */
type ReadBackTo = (newest: number) => number;

/**
 * The rows of a list, each once, page by page. Rows added during the reading only make others appear twice. Removed
 * rows and short pages may hide rows; then the list is read again.
 *
 * @throws PartnerError `incomplete` if no reading was complete, a page was not the requested one, or there are too many
 */
async function* newRows<Row extends ListRow>(list: PagedList<Row>, readBackTo?: ReadBackTo): AsyncGenerator<Row[]> {
  const before: RowSet[] = [];
  for (let tries = 1; ; tries++) {
    const reading = new Reading(list);
    for await (const rows of reading.pages(readBackTo)) {
      yield rows.filter(({ name }) => !before.some((earlier) => earlier.has(name))).map(({ row }) => row);
    }
    before.push(reading.shown);
    if (reading.isComplete) return;
    if (tries === MAX_READINGS) throw reading.incomplete();
  }
}

/** Identifies a row in a list. An id that appears with two references or two prices counts as two rows. */
type RowName = { id: string; variant?: string } | { digest?: string; place: number };

function nameOf({ id, referenceId, price, currency, digest }: ListRow, place: number): RowName {
  if (id === undefined) return { digest, place };
  return { id, variant: price === undefined ? referenceId : `${price} ${currency}` };
}

/**
 * A set of row names. Nearly every id has one variant, so it is stored without copying the strings of 100,000 rows.
 */
class RowSet {
  private readonly variants = new Map<string, string | undefined>();
  private readonly others = new Set<string>();

  get size(): number {
    return this.variants.size + this.others.size;
  }

  has(name: RowName): boolean {
    if (!('id' in name)) return this.others.has(JSON.stringify(name));
    if (!this.variants.has(name.id)) return false;
    return this.variants.get(name.id) === name.variant || this.others.has(JSON.stringify(name));
  }

  /** @returns whether the name is new to the set */
  add(name: RowName): boolean {
    if (this.has(name)) return false;
    if ('id' in name && !this.variants.has(name.id)) this.variants.set(name.id, name.variant);
    else this.others.add(JSON.stringify(name));
    return true;
  }
}

type NamedRow<Row> = { name: RowName; row: Row };

/** One old row is not enough: it may end a group, such as the open orders, with younger rows behind it. */
function areOlder(rows: readonly ListRow[], end: number): boolean {
  return timesOf(rows).length > 0 && newestOf(rows) < end;
}

/** Reads a list once, and determines whether all rows were shown. */
class Reading<Row extends ListRow> {
  isComplete = true;
  private total = 1;
  private newestEnd: NewestEnd = 'unknown';
  private pagesRead = 0;
  private hits = 0;
  private counted = 0;
  private fullPage = 0;
  readonly shown = new RowSet();
  /** Short, because a list may have 100,000s of rows. */
  private readonly lines = new Set<string | undefined>();

  constructor(private readonly list: PagedList<Row>) {}

  /** Yields, page by page, the rows that this reading has not shown before. */
  async *pages(readBackTo?: ReadBackTo): AsyncGenerator<NamedRow<Row>[]> {
    let end = -Infinity;
    for (let page = 1; ; page++) {
      const { rows, fresh } = await this.read(page);
      yield fresh;
      if (page === 1 && readBackTo) {
        if (this.newestEnd === 'last') return yield* this.fromLastPage(readBackTo);
        if (this.newestEnd === 'first') end = readBackTo(newestOf(rows));
      }
      if (areOlder(rows, end) || page >= this.total || !this.isComplete) return;
    }
  }

  /** Continues from the last page, if the first one has the oldest rows. */
  private async *fromLastPage(readBackTo: ReadBackTo): AsyncGenerator<NamedRow<Row>[]> {
    let end: number | undefined;
    for (let page = this.total; page > 1; page--) {
      const { rows, fresh } = await this.read(page);
      yield fresh;
      end ??= readBackTo(newestOf(rows));
      if (areOlder(rows, end) || !this.isComplete) return;
    }
  }

  private async read(page: number): Promise<{ rows: Row[]; fresh: NamedRow<Row>[] }> {
    if (this.pagesRead++ >= (this.list.maxPages ?? MAX_PAGES)) throw this.incomplete();
    const { hits, rows, pages } = await this.list.readPage(page);
    // Some servers number the only page of an empty list 0.
    const isEmpty = hits === 0 && rows.length === 0 && pages.page === 0 && pages.total === 0;
    if (pages.page !== page && !(isEmpty && page === 1)) throw this.incomplete();
    if (page === 1) {
      this.hits = hits;
      this.fullPage = rows.length;
      this.newestEnd = newestEndOf(rows);
    }
    this.list.onRows?.(rows);
    const named = rows.map((row, at) => ({ row, name: nameOf(row, (page - 1) * pages.limit + at) }));
    const expected = page < pages.total ? Math.max(this.fullPage, 1) : hits - (page - 1) * this.fullPage;
    // Only new rows can push a whole page back by one. If there are none, the partner ignores the page number.
    const newLines = named.filter((one) => this.addLine(one));
    const isRepeated = hits === this.hits && rows.length > 0 && newLines.length === 0;
    if (rows.length < expected || hits < this.hits || isRepeated) this.isComplete = false;
    const fresh = named.filter(({ name }) => this.shown.add(name));
    this.counted += rows.length;
    this.hits = hits;
    this.total = pages.total;
    this.list.onPage?.({ page, pages: this.total, read: this.pagesRead, rows: this.shown.size });
    return { rows, fresh };
  }

  /** @returns whether the row is new, compared with its item, because an order with a row per item may fill pages */
  private addLine({ name, row }: NamedRow<Row>): boolean {
    const before = this.lines.size;
    return this.lines.add(digestOf([name, row.item, row.digest])?.slice(0, 8)).size > before;
  }

  incomplete(): PartnerError {
    const message = `the pages contain ${this.counted} of ${this.hits} rows, or are not the requested pages`;
    return new PartnerError('incomplete', message, { operation: this.list.operation });
  }
}
