import { PartnerError, type PartnerOperation } from './errors';
import { type ListRow, nameOf, type RowName, RowSet } from './row-set';
import { countIds, digestOf, type NewestEnd, newestEndOf, newestOf, timesOf } from './rows';

const MAX_PAGES = 20_000;

/** How far a list has been read: the current page, the number of pages, and the pages and rows read so far. */
export type ReadProgress = Record<'page' | 'pages' | 'read' | 'rows', number>;

export interface ListPage<Row> {
  /** The number of rows on all pages. */
  hits: number;
  rows: Row[];
  pages: { page: number; total: number; limit: number };
}

export interface PagedList<Row> {
  operation: PartnerOperation;
  /** Pages start at 1. */
  readPage(page: number): Promise<ListPage<Row>>;
  /** A longer list fails with `incomplete`. Default 20,000. */
  maxPages?: number | undefined;
  /**
   * A list that ends with a full page of rows since the time to read back to fails with `incomplete`: the partner may
   * show only its newest ones.
   */
  mustReachBack?: boolean | undefined;
  /** Called after each page. */
  onPage?: ((progress: ReadProgress) => void) | undefined;
  /** Called with every row of each page, even if an order has several. */
  onRows?: ((rows: readonly Row[]) => void) | undefined;
}

/** Returns the oldest date to read, given the newest date in the list. Both are epoch ms. */
export type ReadBackTo = (newest: number) => number;

type NamedRow<Row> = { name: RowName; row: Row };

/** One old row is not enough: it may end a group, such as the open orders, with younger rows behind it. */
function areOlder(rows: readonly ListRow[], end: number): boolean {
  return timesOf(rows).length > 0 && newestOf(rows) < end;
}

/** How many rows a page has, and how many orders or products they are about. */
type Size = Record<(typeof UNITS)[number], number>;

const UNITS = ['rows', 'ids'] as const;

function sizeOf(rows: readonly ListRow[]): Size {
  return { rows: rows.length, ids: countIds(rows) };
}

/** Reads a list once, and determines whether all rows were shown. */
export class Reading<Row extends ListRow> {
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
      if (page < this.total) continue;
      // Another reading would end there, too.
      if (this.isCutOff(rows, end)) throw this.incomplete();
      return;
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
      this.unit = UNITS.find((unit) => size[unit] === pages.limit);
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
    const units = this.unit ? [this.unit] : UNITS;
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
