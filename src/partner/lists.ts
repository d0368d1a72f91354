import { isBillable } from '../domain/order';
import type { PartnerClient } from './client';
import { PartnerError, type PartnerOperation } from './errors';
import { type ReadRetry, withRetry } from './retry';
import {
  countIds,
  digestOf,
  isUnreadable,
  type NewestEnd,
  newestEndOf,
  newestOf,
  timesOf,
  type UnreadableRow,
} from './rows';
import { MAX_PAGE_SIZE } from './types';
import type { HistoryOrder, HistoryRow, OrderQuery, Product, ProductQuery } from './types';

/** How far a list has been read: the current page, the number of pages, and the pages and rows read so far. */
export type ReadProgress = Record<'page' | 'pages' | 'read' | 'rows', number>;

/** How to read a long history. */
export interface HistoryOptions {
  /** A longer history fails with `incomplete`. Default 20,000. */
  maxPages?: number;
  /** How failed pages are retried. Default: not at all. */
  retry?: ReadRetry;
  /**
   * A list that ends with a full page of orders since that time fails with `incomplete`: the partner may show only its
   * newest ones.
   */
  mustReachBack?: boolean;
  /** Called after each page. */
  onPage?: (progress: ReadProgress) => void;
  /** Called with every row of each page, even if an order has several. */
  onRows?: (rows: readonly HistoryRow[]) => void;
  /** Called after each page with how far the partner's clock is ahead of ours, in ms, including the response time. */
  onClock?: (aheadMs: number) => void;
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

type ListRow = Partial<Pick<UnreadableRow, 'id' | 'referenceId' | 'createdAt' | 'digest'>> &
  Partial<Pick<Product, 'price' | 'currency'>> &
  Partial<Pick<HistoryOrder, 'item' | 'status'>>;

interface ListPage<Row> {
  /** The number of rows on all pages. */
  hits: number;
  rows: Row[];
  pages: { page: number; total: number; limit: number };
}

interface PagedList<Row> extends Pick<HistoryOptions, 'maxPages' | 'mustReachBack' | 'onPage'> {
  operation: PartnerOperation;
  /** Pages start at 1. */
  readPage(page: number): Promise<ListPage<Row>>;
  onRows?: ((rows: readonly Row[]) => void) | undefined;
}

/** Returns the oldest date to read, given the newest date in the list. Both are epoch ms. */
type ReadBackTo = (newest: number) => number;

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

/**
 * Identifies a row in a list. An id that appears with two references or two prices counts as two rows, and so does an
 * order that costs money by one row, and none by another.
 */
type RowName = { id: string; variant?: string } | { digest?: string; place: number };

function nameOf({ id, referenceId, status = '', price, currency, digest }: ListRow, place: number): RowName {
  if (id === undefined) return { digest, place };
  if (price !== undefined) return { id, variant: `${price} ${currency}` };
  return { id, variant: isBillable({ status }) ? referenceId : `${referenceId} ended without keys` };
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

/** How many rows a page has, and how many orders or products they are about. */
type Size = Record<'rows' | 'ids', number>;

function sizeOf(rows: readonly ListRow[]): Size {
  return { rows: rows.length, ids: countIds(rows) };
}

/** Reads a list once, and determines whether all rows were shown. */
class Reading<Row extends ListRow> {
  private total = 1;
  private newestEnd: NewestEnd = 'unknown';
  private pagesRead = 0;
  private firstHits = 0;
  private hits = 0;
  private counted = 0;
  private firstPage: Size = { rows: 0, ids: 0 };
  /** What the limit of a page counts, if the first page reached it. */
  private unit: keyof Size | undefined;
  readonly shown = new RowSet();
  /** Short, because a list may have 100,000s of rows. */
  private readonly lines = new Set<string | undefined>();
  /** How many ids were shown again on a later page. */
  private repeated = 0;
  /** How many ids of the newest page were added or moved there during the reading. */
  private added = 0;
  /** A page has two equal rows, such as an order with a row per item that does not show its item. */
  private hasEqualRows = false;
  private isBroken = false;

  /** @param isLast shows as many rows as possible, even if some are missing */
  constructor(
    private readonly list: PagedList<Row>,
    private readonly isLast: boolean,
  ) {}

  isComplete(): boolean {
    // Equal rows may also be on both sides of the end of a page.
    const equal = this.hasEqualRows ? this.pagesRead - 1 : 0;
    // In a list with dates that is not ordered by them, a new row need not push others back.
    const grown = this.newestEnd === 'neither' ? 0 : this.hits - this.firstHits;
    return !this.isBroken && this.repeated <= equal + Math.max(grown, this.added);
  }

  /** Yields, page by page, the rows that this reading has not shown before. */
  async *pages(readBackTo?: ReadBackTo): AsyncGenerator<NamedRow<Row>[]> {
    yield* this.allPages(readBackTo);
    if (this.isBroken || this.isComplete()) return;
    // The partner may count at most 10,000 rows, or drop an old one for each new one.
    const newestPage = this.newestEnd === 'last' ? this.total : 1;
    const { hits, rows, pages } = await this.list.readPage(newestPage);
    const fresh = this.named(rows, pages).filter(({ name }) => this.shown.add(name));
    yield fresh;
    // Those that were added just now have pushed none back.
    this.added = countIds(fresh.map(({ row }) => row)) - Math.max(0, hits - this.hits);
  }

  private async *allPages(readBackTo?: ReadBackTo): AsyncGenerator<NamedRow<Row>[]> {
    let end = -Infinity;
    for (let page = 1; ; page++) {
      const { rows, fresh, isEnough } = await this.read(page);
      yield fresh;
      if (page === 1 && readBackTo) {
        if (this.newestEnd === 'last') return yield* this.fromLastPage(readBackTo);
        if (this.newestEnd === 'first') end = readBackTo(newestOf(rows));
      }
      if (areOlder(rows, end) || isEnough) return;
      // Another reading would end there, too.
      if (page >= this.total && this.isCutOff(rows, end)) throw this.incomplete();
      if (page >= this.total) return;
    }
  }

  /** Continues from the last page, if the first one has the oldest rows. */
  private async *fromLastPage(readBackTo: ReadBackTo): AsyncGenerator<NamedRow<Row>[]> {
    let end: number | undefined;
    for (let page = this.total; page > 1; page--) {
      const { rows, fresh, isEnough } = await this.read(page);
      yield fresh;
      end ??= readBackTo(newestOf(rows));
      if (areOlder(rows, end) || isEnough) return;
    }
  }

  /** `isEnough`: reading on would show nothing, or is left to the next reading. */
  private async read(page: number): Promise<{ rows: Row[]; fresh: NamedRow<Row>[]; isEnough: boolean }> {
    if (this.pagesRead++ >= (this.list.maxPages ?? MAX_PAGES)) throw this.incomplete();
    const { hits, rows, pages } = await this.list.readPage(page);
    // Some servers number the only page of an empty list 0.
    const isEmpty = hits === 0 && rows.length === 0 && pages.page === 0 && pages.total === 0;
    if (pages.page !== page && !(isEmpty && page === 1)) throw this.incomplete();
    const size = sizeOf(rows);
    if (page === 1) {
      this.firstHits = this.hits = hits;
      this.firstPage = size;
      this.unit = (['rows', 'ids'] as const).find((unit) => size[unit] === pages.limit);
      this.newestEnd = newestEndOf(rows);
    }
    this.list.onRows?.(rows);
    this.counted += rows.length;
    const named = this.named(rows, pages);
    // Only new rows can push a whole page back by one. If there are none, the partner ignores the page number.
    const isRepeated = this.addLines(named) && hits === this.hits;
    const hasGap = this.isShort(size, { hits, page, isLast: page >= pages.total }) || hits < this.hits;
    this.isBroken ||= hasGap || isRepeated;
    const isEnough = isRepeated || (hasGap && (!this.isLast || rows.length === 0));
    const fresh = named.filter(({ name }) => this.shown.add(name));
    this.hits = hits;
    this.total = pages.total;
    this.list.onPage?.({ page, pages: this.total, read: this.pagesRead, rows: this.shown.size });
    return { rows, fresh, isEnough };
  }

  private named(rows: readonly Row[], { page, limit }: ListPage<Row>['pages']): NamedRow<Row>[] {
    return rows.map((row, at) => ({ row, name: nameOf(row, (page - 1) * limit + at) }));
  }

  /** The partner may count rows or orders, on a page and in `hits`. Either count may show that the page is not short. */
  private isShort(size: Size, { hits, page, isLast }: { hits: number; page: number; isLast: boolean }) {
    if (!isLast) return !this.fillsPage(size);
    const expected = (unit: keyof Size) => hits - (page - 1) * this.firstPage[unit];
    return size.ids < expected('ids') && size.rows !== expected('rows') && this.counted !== hits;
  }

  private fillsPage(size: Size): boolean {
    const units = this.unit ? [this.unit] : (['rows', 'ids'] as const);
    return units.some((unit) => size[unit] >= Math.max(this.firstPage[unit], 1));
  }

  /** Whether the partner may show only its newest orders: the last page is full, and has no order from before `end`. */
  private isCutOff(rows: readonly Row[], end: number): boolean {
    const isFull = this.total > 1 ? this.fillsPage(sizeOf(rows)) : this.unit !== undefined;
    return Boolean(this.list.mustReachBack) && end > -Infinity && isFull && timesOf(rows).every((time) => time >= end);
  }

  /**
   * Notes the rows of a page, compared with their items, because an order with a row per item may fill pages.
   * @returns whether all of them were shown on earlier pages
   */
  private addLines(page: readonly NamedRow<Row>[]): boolean {
    const lines = page.map(({ name, row }) => digestOf([name, row.item, row.digest])?.slice(0, 8));
    const again = page.filter((_, at) => this.lines.has(lines[at]));
    this.repeated += countIds(again.map(({ row }) => row));
    this.hasEqualRows ||= new Set(lines).size < lines.length;
    for (const line of lines) this.lines.add(line);
    return page.length > 0 && again.length === page.length;
  }

  incomplete(): PartnerError {
    const message =
      `the pages contain ${this.counted} of ${this.hits} rows, repeat some, are not the requested pages, ` +
      'or end with a full one before the time to read back to';
    return new PartnerError('incomplete', message, { operation: this.list.operation });
  }
}
