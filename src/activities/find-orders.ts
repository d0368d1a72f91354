import { activityInfo } from '@temporalio/activity';
import type { Activities, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { isSafeOrderId, presentableStatus } from '../domain/order';
import { type HistoryOrder, IncompleteListError, type PartnerClient } from '../partner';
import type { ActivityDependencies } from './index';
import { failure, toFailure } from './failures';

/** The partner's clock and Temporal's may differ by so much: an order this much older than a purchase is not its own. */
const CLOCK_TOLERANCE_MS = 15 * 60_000;
const PAGE = 500;
/** Beyond this many pages a look gives up: 100,000 orders younger than one purchase are no history to scan. */
const MAX_PAGES = 200;
/** Why an order that is there can't be taken over. */
export const UNUSABLE = "an order bears this reference under an id that can't be used";
/** How many orders are taken into view to find one that is known to exist. */
const SAMPLE = 20;

/** Looks in the partner's order history, which is the only witness of a placement without an answer. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  return {
    async findOrders(input): Promise<OrderSearchResult> {
      const runId = activityInfo().workflowExecution?.runId ?? '';
      try {
        const found = await findOrders(deps.partner, input.referenceId, input.since);
        if (found.unusable > 0) throw failure(FAILURE.partnerUnavailable, UNUSABLE);
        const { orders, why } = found;
        if (orders.length > 0 || !input.prove) return { runId, orders, readable: false, why };
        return { runId, orders, ...(await proveReadable(deps.partner, found)) };
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

interface Found {
  orders: FoundOrder[];
  /** Orders of this reference under ids that may not stand in a path. They exist, and can't be adopted. */
  unusable: number;
  /** How it was looked for. A search may be ignored by the partner; then the history itself is scanned. */
  how: 'search' | 'scan';
  /** Rows that the partner showed, ours or not. */
  rowsSeen: number;
  why: string;
}

/**
 * Finds the orders that bear exactly this reference, byte for byte: a search may be fuzzy. If the answer shows that the
 * search was ignored, the history is scanned back to `since`.
 *
 * @throws PartnerError when the history could not be read to the end.
 */
export async function findOrders(partner: PartnerClient, referenceId: string, since: number): Promise<Found> {
  const search = new PageReader(partner, referenceId);
  await search.read(1);
  if (search.rows().every((row) => mentions(row, referenceId))) {
    await search.readOnFrom(2);
    return { ...matching(search.rows(), referenceId), how: 'search', rowsSeen: search.rows().length, why: 'searched' };
  }
  const rows = await scan(new PageReader(partner), since - CLOCK_TOLERANCE_MS);
  return {
    ...matching(rows, referenceId),
    how: 'scan',
    rowsSeen: rows.length,
    why: 'scanned, the search is ignored',
  };
}

/**
 * Reads the history from its newest end back to the horizon. Which end is newest is seen from the first and the last page.
 * New orders shift a newest-first list to later pages, so that rows come twice and none is missed as long as it is read
 * onwards; an oldest-first list grows at the end that was read first, which is read once more.
 */
async function scan(pages: PageReader, horizon: number): Promise<HistoryOrder[]> {
  const first = await pages.read(1);
  if (pages.total <= 1) {
    await pages.readOnFrom(2);
    return pages.rows();
  }
  const end = pages.total;
  const last = await pages.read(end);
  // Pages that show the same rows, or none, are no pages: where the newest orders are can't be told.
  if (last.every((row) => first.some(({ id }) => id === row.id))) throw pages.incomplete();

  if (newest(first) >= newest(last)) {
    if (oldest(first) >= horizon) await pages.readOnFrom(2, horizon);
    return pages.rows();
  }
  let reached = oldest(last) < horizon;
  for (let page = end - 1; page > 1 && !reached; page--) reached = oldest(await pages.read(page)) < horizon;
  await pages.readOnFrom(end, undefined, reached);
  return pages.rows();
}

/** Reads pages of the history and keeps every row once. A page that is not the one asked for, or too many, end it. */
class PageReader {
  total = 1;
  private hits = 0;
  private reads = 0;
  private readonly seen = new Map<string, HistoryOrder>();

  constructor(
    private readonly partner: PartnerClient,
    private readonly search?: string,
  ) {}

  rows(): HistoryOrder[] {
    return [...this.seen.values()];
  }

  async read(page: number): Promise<HistoryOrder[]> {
    this.reads += 1;
    if (this.reads > MAX_PAGES) throw this.incomplete();
    const { data } = await this.partner.listOrders({ search: this.search, limit: PAGE, page });
    for (const row of data.orders) this.seen.set(row.id, row);
    this.total = data.pages.total;
    // Orders that come in while pages are read count later; those that were there at first must all be seen.
    if (this.reads === 1) this.hits = data.hits;
    if (data.pages.page !== page) throw this.incomplete();
    return data.orders;
  }

  /** Reads to the last page, or to the horizon. At the last page all rows must be there, unless some were left unread on purpose. */
  async readOnFrom(from: number, horizon = -Infinity, partly = false): Promise<void> {
    for (let page = from; page <= this.total; page++) {
      if (oldest(await this.read(page)) < horizon) return;
    }
    if (!partly && this.seen.size < this.hits) throw this.incomplete();
  }

  incomplete(): IncompleteListError {
    return new IncompleteListError('listOrders', this.seen.size, this.hits);
  }
}

/**
 * Whether the history would have shown an order that exists: an order that is known to exist is found by the same query.
 * An empty history proves nothing.
 */
async function proveReadable(partner: PartnerClient, found: Found): Promise<{ readable: boolean; why: string }> {
  if (found.how === 'scan') {
    const readable = found.rowsSeen > 0;
    return { readable, why: readable ? found.why : 'the order history is empty, which proves nothing' };
  }
  const { data } = await partner.listOrders({ limit: SAMPLE });
  const known = data.orders.find((row) => row.referenceId);
  if (!known?.referenceId) return { readable: false, why: 'the order history is empty, which proves nothing' };
  const again = await partner.listOrders({ search: known.referenceId, limit: PAGE });
  const readable = again.data.orders.some((row) => row.id === known.id);
  return {
    readable,
    why: readable ? 'the search finds a known order' : 'the search does not find an order known to exist',
  };
}

function mentions(row: HistoryOrder, text: string): boolean {
  const wanted = text.toLowerCase();
  return [row.referenceId, row.id].some((id) => id?.toLowerCase().includes(wanted));
}

/** The rows of exactly this reference, oldest first. Of the partner's free text nothing goes on but what has been checked. */
function matching(rows: readonly HistoryOrder[], referenceId: string): { orders: FoundOrder[]; unusable: number } {
  const own = rows.filter((row) => row.referenceId === referenceId);
  const usable = own.filter((row) => isSafeOrderId(row.id));
  const orders = usable
    .map((row) => ({
      id: row.id,
      status: presentableStatus(row.status),
      createdAt: new Date(row.createdAt).toISOString(),
    }))
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  return { orders, unusable: own.length - usable.length };
}

function newest(rows: readonly HistoryOrder[]): number {
  return Math.max(...rows.map((row) => Date.parse(row.createdAt) || 0));
}

function oldest(rows: readonly HistoryOrder[]): number {
  return Math.min(...rows.map((row) => Date.parse(row.createdAt) || Infinity));
}
