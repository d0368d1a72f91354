import { groupBy } from '../domain/group-by';
import type { PartnerOperation } from './error-kind';
import { incompleteList, type PartnerError } from './errors';
import type { PagePosition } from './types';

export interface ListPage<Row> {
  /** The rows on all pages together. */
  hits: number;
  rows: readonly Row[];
  pages: PagePosition;
}

/** How far a list has been read. `read` counts the pages of all rounds, `rows` the distinct rows so far. */
export interface ReadProgress extends Record<string, number> {
  page: number;
  pages: number;
  read: number;
  rows: number;
}

/** A list of the partner that comes in pages. */
export interface PagedList<Row> {
  operation: PartnerOperation;
  /** Page numbers and rounds count from 1. Rounds should differ in the size of their pages, see {@link readInRounds}. */
  readPage(page: number, round: number): Promise<ListPage<Row>>;
  /** A list of more pages than that is given up. Default 20,000. */
  maxPages?: number;
  onPage?: ((progress: ReadProgress) => void) | undefined;
}

const MOST_PAGES = 20_000;
const MOST_ROUNDS = 10;

/**
 * All rows, each once, as they come, in the order of the list; rows that are added while it is read are among them.
 *
 * @throws PartnerError of kind `incomplete` after the last row, where the pages never hold as many rows as the partner
 * counts; at once, where a page is not the one that was asked for or there are too many.
 */
export async function* allRows<Row extends NamedRow>(list: PagedList<Row>): AsyncGenerator<Row> {
  const shown = new Set<string>();
  for await (const rows of readInRounds(list, readOnwards)) {
    for (const row of rows) {
      const name = nameOf(row);
      if (shown.has(name)) continue;
      shown.add(name);
      yield row;
    }
  }
}

/** A list that is read back to an instant. */
export interface DatedList<Row, Kept> extends PagedList<Row> {
  /** What is kept of a row, under its own names. Default: all of it. */
  keep?: ((row: Row) => Kept) | undefined;
  /** Asked after each page, with its rows. Once it says so no more is read. */
  enough?: ((rows: readonly Row[]) => Promise<boolean>) | undefined;
}

/**
 * The rows that are no older than `since` (epoch ms), each once, as it was seen last, whichever end of the list is newest.
 * All that were there when the reading began are among them; so may be older ones, and some that came in since. With
 * `enough` it may end before.
 *
 * @throws PartnerError as {@link allRows}, before any row is given.
 */
export async function rowsSince<Row extends DatedRow, Kept extends NamedRow = Row>(
  list: DatedList<Row, Kept>,
  since: number,
): Promise<Kept[]> {
  const { keep = (row: Row) => row as NamedRow as Kept } = list;
  const found = new DistinctRows<Kept>();
  for await (const rows of readInRounds(list, (pages) => readBack(pages, since))) {
    for (const row of rows) found.set(keep(row));
    if (await list.enough?.(rows)) break;
  }
  return found.all();
}

/** Rows by name, each as it was set last. */
class DistinctRows<Row extends NamedRow> {
  /** By id. A name for each of a hundred thousand rows takes as much memory as the rows. */
  private readonly byId = new Map<string, Row>();
  /** By name: rows without an id, and those whose id has a row under another reference. */
  private readonly others = new Map<string, Row>();

  set(row: Row): void {
    const { id, referenceId } = row;
    const first = id === undefined ? undefined : this.byId.get(id);
    const isOther = id === undefined || (first && first.referenceId !== referenceId);
    if (isOther) this.others.set(nameOf(row), row);
    else this.byId.set(id, row);
  }

  all(): Row[] {
    return [...this.byId.values(), ...this.others.values()];
  }
}

/** What distinguishes a row from others. */
export interface NamedRow {
  /** Absent where it can't be read. */
  id?: string | undefined;
  /** An id that is shown under two references is no row that moved, and both are given. */
  referenceId?: string | undefined;
  /** Of a row without an id: the same for the same content. */
  digest?: string;
}

interface DatedRow extends NamedRow {
  /** A date and time that `Date.parse` can read. Absent where it can't be read. */
  createdAt?: string | undefined;
}

/** Yields the rows of each page that it reads. @returns whether no row was missed. */
type Round<Row> = AsyncGenerator<readonly Row[], boolean>;

/**
 * Rows come, go and move while pages are read. New rows push old ones to later pages, which only shows some twice; rows that
 * go or move let others slip past unread. So the distinct rows are counted against the partner's `hits`, and the pages are
 * read again until none is missing, or until nothing changes any more. A row that goes just as another comes leaves the
 * count as it was: that one can't be seen.
 *
 * The partner may show an id in several rows. They count as several only where one page shows them together; the rounds have
 * pages of different sizes, so that rows which the end of a page divides in one round stand on one page in the next. Whether
 * the partner counts rows or ids it does not say, and where it counts ids, a second row would stand in for another that slipped
 * past: so a list that is whole only by second rows is read twice, unless it is one page.
 */
async function* readInRounds<Row extends NamedRow>(
  list: PagedList<Row>,
  readRound: (pages: PageReader<Row>) => Round<Row>,
): AsyncGenerator<readonly Row[]> {
  const pages = new PageReader(list);
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    pages.beginRound(round);
    if (yield* readRound(pages)) return;
    if (round > 1 && !pages.hasChanged) break;
  }
  throw pages.incomplete();
}

/** From the first page to the last. What an earlier round has counted need not be read to its end again. */
async function* readOnwards<Row extends NamedRow>(pages: PageReader<Row>): Round<Row> {
  for (let page = 1; ; page++) {
    const rows = await pages.read(page);
    yield rows;
    const isLast = rows.length === 0 || page >= pages.total;
    if (isLast) return pages.haveCounted(pages.hits);
    if (pages.round > 1 && pages.haveCountedIds(pages.hits)) return true;
  }
}

/**
 * From the newest end back to `since`. The first and the last page show which end that is; a list that keeps to neither
 * order is read whole.
 */
async function* readBack<Row extends DatedRow>(pages: PageReader<Row>, since: number): Round<Row> {
  // Rows that an earlier round found further back must not stand in for some that are missed in this one.
  pages.countAnew();
  const first = await pages.read(1);
  yield first;
  const end = pages.total;
  if (end <= 1) return pages.haveCounted(pages.hitsAtFirst);
  const last = await pages.read(end);
  yield last;
  // Pages that show the same rows, or none, are no pages: where the newest rows are can't be told.
  const shownFirst = new Set(first.map(nameOf));
  if (last.every((row) => shownFirst.has(nameOf(row)))) return false;

  const order = orderOf(first, last);
  if (order === 'oldest first') return yield* readFromEnd(pages, { first, last, end, since });
  return yield* readFromBeginning(pages, { first, last, end, since: order === 'none' ? -Infinity : since });
}

interface Ends<Row> {
  first: readonly Row[];
  last: readonly Row[];
  /** The number of the last page when it was read. */
  end: number;
  since: number;
}

/** New rows push others to later pages, so that some are shown twice and none is missed as long as it is read onwards. */
async function* readFromBeginning<Row extends DatedRow>(
  pages: PageReader<Row>,
  { first, last, end, since }: Ends<Row>,
): Round<Row> {
  let page = 1;
  let oldest = since === -Infinity ? Infinity : lastTimeOf(first);
  while (oldest >= since && page < pages.total) {
    page += 1;
    if (page === end && pages.isUnchanged) return pages.haveCounted(pages.hitsAtFirst);
    const rows = await pages.read(page);
    yield rows;
    if (since !== -Infinity) oldest = Math.min(oldest, lastTimeOf(rows));
  }
  if (page >= pages.total) return pages.haveCounted(pages.hitsAtFirst);
  // The last page was read beforehand, and rows that came in since are not counted.
  const expected = page * first.length - (pages.hits - pages.hitsAtFirst) + last.length;
  return pages.haveCounted(Math.min(expected, pages.hitsAtFirst));
}

/** New rows move none, but come in behind the page that was read first: from there on it is read once more. */
async function* readFromEnd<Row extends DatedRow>(
  pages: PageReader<Row>,
  { first, last, end, since }: Ends<Row>,
): Round<Row> {
  let page = end;
  let rows = last;
  while (page > 2 && firstTimeOf(rows) >= since) {
    page -= 1;
    rows = await pages.read(page);
    yield rows;
  }
  // The first page has been read in any case; what stands between it and the last one that was read is older.
  const expected = pages.hitsAtFirst - (page - 2) * first.length;
  if (!pages.haveCounted(expected)) return false;
  if (pages.isUnchanged) return true;
  for (let late = end; late <= pages.total; late++) yield await pages.read(late);
  return pages.haveCounted(expected);
}

/** Reads pages and counts their distinct rows. A page that is not the one asked for, or too many, end the reading. */
class PageReader<Row extends NamedRow> {
  round = 0;
  total = 1;
  hits = 0;
  /** The partner's count on the first page of this round. */
  hitsAtFirst = 0;
  /** Whether the list or what is known of it is another than before this round. */
  hasChanged = false;
  private shrank = false;
  private readsInRound = 0;
  private reads = 0;
  /** By id: how often it was shown since the count began, 0 where only before. */
  private readonly shown = new Map<string, number>();
  private shownIds = 0;
  /** By id, where it is more than one: the most rows of it that one page has shown. */
  private readonly rowsOf = new Map<string, number>();
  /** The second rows of ids, and those beyond, that count. */
  private furtherRows = new Set<string>();
  /** Where rows without an id stand in this round. */
  private places = new Set<string>();
  /** All further rows and rows without an id that were ever shown. */
  private readonly knownOthers = new Set<string>();

  constructor(private readonly list: PagedList<Row>) {}

  /** No row has come or gone since the round began. */
  get isUnchanged(): boolean {
    return this.hits === this.hitsAtFirst && !this.shrank;
  }

  beginRound(round: number): void {
    if (this.shrank) this.countAnew();
    this.round = round;
    this.readsInRound = 0;
    this.shrank = false;
    this.hasChanged = false;
    this.places = new Set();
  }

  countAnew(): void {
    for (const id of this.shown.keys()) this.shown.set(id, 0);
    this.shownIds = 0;
    this.furtherRows = new Set();
  }

  async read(page: number): Promise<readonly Row[]> {
    this.readsInRound += 1;
    this.reads += 1;
    const { maxPages = MOST_PAGES, onPage } = this.list;
    if (this.readsInRound > maxPages) throw this.incomplete();
    const { hits, rows, pages } = await this.list.readPage(page, this.round);
    this.noteHits(hits);
    this.total = pages.total;
    if (pages.page !== page) throw this.incomplete();
    this.count(rows, page);
    onPage?.({ page, pages: this.total, read: this.reads, rows: this.shown.size + this.knownOthers.size });
    return rows;
  }

  /** Asked where a round ends. */
  haveCounted(expected: number): boolean {
    if (this.haveCountedIds(expected)) return true;
    // A page is of one instant, and what slips past in one round is seen in the next.
    const isProven = this.round > 1 || this.readsInRound === 1;
    return isProven && !this.shrank && this.found >= expected;
  }

  /** An id with several rows counts once. */
  haveCountedIds(expected: number): boolean {
    return !this.shrank && this.shownIds + this.places.size >= expected;
  }

  /** A partner that shows more rows than it counts counts ids. */
  private get found(): number {
    const { shownIds, furtherRows, places } = this;
    const ids = shownIds + places.size;
    const rows = ids + furtherRows.size;
    return rows <= this.hits ? rows : ids;
  }

  incomplete(): PartnerError {
    return incompleteList({ operation: this.list.operation, found: this.found, hits: this.hits });
  }

  /** Rows that went are still among the counted and would stand in for some that were missed. */
  private noteHits(hits: number): void {
    const isFirst = this.readsInRound === 1;
    if (isFirst) this.hitsAtFirst = hits;
    if (hits < this.hits) this.rowsOf.clear();
    if (hits < this.hits && isFirst) this.countAnew();
    else if (hits < this.hits) this.shrank = true;
    this.hasChanged ||= hits !== this.hits;
    this.hits = hits;
  }

  /**
   * A page is of one instant, so an id has as many rows as the page that shows the most of them. Where another page shows it
   * once more, that may be a row that was pushed there. A row without an id is counted where it stands: two that look the same
   * are two, and no reading waits for the other.
   */
  private count(rows: readonly Row[], page: number): void {
    for (const [id, { length }] of groupBy(rows, (row) => row.id)) {
      const before = this.shown.get(id);
      const shown = (before ?? 0) + length;
      const most = Math.max(this.rowsOf.get(id) ?? 1, length);
      this.shown.set(id, shown);
      this.shownIds += before ? 0 : 1;
      this.hasChanged ||= before === undefined;
      if (most > 1) this.rowsOf.set(id, most);
      for (let nth = 2; nth <= Math.min(most, shown); nth++) {
        this.furtherRows.add(`${nth} ${id}`);
        this.noteOther(`${nth} ${id}`);
      }
    }
    for (const [at, row] of rows.entries()) {
      if (row.id !== undefined) continue;
      this.places.add(`${page} ${at}`);
      this.noteOther(nameOf(row));
    }
  }

  private noteOther(name: string): void {
    this.hasChanged ||= !this.knownOthers.has(name);
    this.knownOthers.add(name);
  }
}

/** Rows may come in between the two reads, so that the pages overlap: each is looked at for itself, and both ends. */
function orderOf(first: readonly DatedRow[], last: readonly DatedRow[]): 'newest first' | 'oldest first' | 'none' {
  const [one, other] = [timesOf(first), timesOf(last)];
  if (one.length === 0 || other.length === 0) return 'none';
  const heads = [firstTimeOf(first), firstTimeOf(last)];
  const tails = [lastTimeOf(first), lastTimeOf(last)];
  if ([one, other, heads, tails].every(falls)) return 'newest first';
  return [one, other, heads, tails].every((times) => falls(times.toReversed())) ? 'oldest first' : 'none';
}

function falls(times: readonly number[]): boolean {
  return times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time));
}

/** A page without a date ends no reading: what lies behind it may be young enough. */
function firstTimeOf(rows: readonly DatedRow[]): number {
  return timesOf(rows)[0] ?? Infinity;
}

function lastTimeOf(rows: readonly DatedRow[]): number {
  return timesOf(rows).at(-1) ?? Infinity;
}

function timesOf(rows: readonly DatedRow[]): number[] {
  return rows.flatMap(({ createdAt }) => (createdAt === undefined ? [] : [Date.parse(createdAt)]));
}

function nameOf({ id, referenceId, digest = '' }: NamedRow): string {
  return id === undefined ? `without id: ${digest}` : JSON.stringify([id, referenceId]);
}
