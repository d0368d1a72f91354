import { presentableStatus } from '../../domain/order';
import type { PartnerOrder } from '../../domain/reconciliation/index';
import { type HistoryOrder, IncompleteListError, type PartnerClient } from '../../partner/index';
import { withRetry } from './with-retry';
import type { Progress } from './progress';

const PAGE = 500;
const MOST_ROUNDS = 5;

/**
 * Reads the order history back to `from`, each order once, whichever end of the list is newest, while orders come in.
 *
 * The first and the last page tell the way of the list. Newest first, it is read onwards: orders that come in push others to
 * later pages, so that some are shown twice and none is missed. Oldest first, it is read from its end. A list that keeps to
 * neither is read whole. Orders that go move others to pages that were read already: then the count is short, and all is
 * read again. The orders that come in after the first page are for the next run.
 *
 * @param from epoch ms; the pages may bring some that are older.
 * @throws PartnerError; IncompleteListError where the pages never hold as many orders as the partner counts.
 */
export async function readOrderHistory(
  partner: PartnerClient,
  from: number,
  progress: Progress,
): Promise<PartnerOrder[]> {
  const history = new HistoryReader(partner, progress);
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    history.beginRound();
    if (await readRound(history, from)) return history.orders();
  }
  throw history.incomplete();
}

/** @returns whether every order that was there when the round began has been seen, as far back as `from`. */
async function readRound(history: HistoryReader, from: number): Promise<boolean> {
  const first = await history.read(1);
  const pages = history.total;
  if (pages <= 1) return history.hasSeen(history.hitsAtFirst);
  const last = await history.read(pages);
  const way = wayOf(first, last);

  if (way === 'oldest first') {
    let page = pages;
    for (let oldest = timeOf(last[0]); page > 1 && oldest >= from;) {
      page -= 1;
      oldest = page === 1 ? -Infinity : timeOf((await history.read(page))[0]);
    }
    // What stands before the last page that was read is older. The first page has been read in any case.
    const unread = Math.max(0, page - 2) * history.limit;
    return history.hasSeen(history.hitsAtFirst - unread);
  }
  let page = 1;
  let oldest = way === 'newest first' ? timeOf(first.at(-1)) : Infinity;
  while (oldest >= from && page < history.total) {
    page += 1;
    if (page === pages && history.unchanged) return history.hasSeen(history.hitsAtFirst);
    const rows = await history.read(page);
    if (way === 'newest first') oldest = Math.min(oldest, timeOf(rows.at(-1)));
  }
  if (page >= history.total) return history.hasSeen(history.hitsAtFirst);
  // The last page was read beforehand, and orders that came in since are not counted.
  const read = page * history.limit - (history.hits - history.hitsAtFirst) + last.length;
  return history.hasSeen(Math.min(read, history.hitsAtFirst));
}

/** Keeps what the pages show. Every order stands in `orders` once, as it was seen last. */
class HistoryReader {
  total = 1;
  limit = PAGE;
  hits = 0;
  hitsAtFirst = 0;
  private shrank = false;
  private pagesRead = 0;
  private readonly seen = new Map<string, PartnerOrder>();
  private inRound = new Set<string>();

  constructor(
    private readonly partner: PartnerClient,
    private readonly progress: Progress,
  ) {}

  /** No order has come or gone since the round began. */
  get unchanged(): boolean {
    return this.hits === this.hitsAtFirst && !this.shrank;
  }

  beginRound(): void {
    this.inRound = new Set();
    this.shrank = false;
    this.hits = 0;
  }

  orders(): PartnerOrder[] {
    return [...this.seen.values()];
  }

  async read(page: number): Promise<HistoryOrder[]> {
    const { data } = await withRetry(this.progress.signal, () => this.partner.listOrders({ limit: PAGE, page }));
    if (data.pages.page !== page) throw this.incomplete();
    if (this.inRound.size === 0) this.hitsAtFirst = data.hits;
    this.shrank ||= data.hits < this.hits;
    this.hits = data.hits;
    this.total = data.pages.total;
    this.limit = data.pages.limit;
    this.pagesRead += 1;
    for (const row of data.orders) {
      this.inRound.add(row.id);
      this.seen.set(row.id, bookedOf(row));
    }
    const counts = { page, pages: this.total, read: this.pagesRead, orders: this.seen.size };
    this.progress.show('reading the order history', counts);
    return data.orders;
  }

  hasSeen(count: number): boolean {
    return !this.shrank && this.inRound.size >= count;
  }

  incomplete(): IncompleteListError {
    return new IncompleteListError('listOrders', this.inRound.size, this.hits);
  }
}

/** Orders may have come in between the two reads, so that the pages overlap: each is looked at for itself, and both ends. */
function wayOf(
  first: readonly HistoryOrder[],
  last: readonly HistoryOrder[],
): 'newest first' | 'oldest first' | 'none' {
  const [one, other] = [first.map(timeOf), last.map(timeOf)];
  const ends = [
    [one[0] ?? 0, other[0] ?? 0],
    [one.at(-1) ?? 0, other.at(-1) ?? 0],
  ];
  if ([one, other, ...ends].every(falls)) return 'newest first';
  return [one, other, ...ends].every(rises) ? 'oldest first' : 'none';
}

function falls(times: readonly number[]): boolean {
  return times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time));
}

function rises(times: readonly number[]): boolean {
  return times.every((time, index) => index === 0 || time >= (times[index - 1] ?? time));
}

function timeOf(row: HistoryOrder | undefined): number {
  return row ? Date.parse(row.createdAt) : -Infinity;
}

/** Of the partner's free text nothing goes on but what is needed: a status in plain letters, a title cut short. */
function bookedOf(row: HistoryOrder): PartnerOrder {
  const { amount, title, quantity } = row.item ?? {};
  return {
    id: row.id,
    status: presentableStatus(row.status),
    createdAt: timeOf(row),
    ...(row.referenceId !== undefined && { referenceId: row.referenceId }),
    ...(amount !== undefined && { amount }),
    ...(title !== undefined && { title: title.slice(0, 200) }),
    ...(quantity !== undefined && { quantity }),
  };
}
