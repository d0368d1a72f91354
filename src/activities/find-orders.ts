import { activityInfo } from '@temporalio/activity';
import type { Activities, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { CLOCK_TOLERANCE_MS } from '../domain/clock-tolerance';
import { isSafeOrderId, presentableStatus } from '../domain/order';
import type { HistoryOrder, PartnerClient } from '../partner';
import { failure, toFailure } from './failures';
import type { ActivityDependencies } from './dependencies';
import { proveSearch, type Readability } from './prove-readable';

/** Beyond this many pages a search gives up: 100,000 orders younger than one purchase are no history to scan. */
const MAX_PAGES = 200;
/** Why an order that is there can't be taken over. */
export const UNUSABLE = "an order bears this reference under an id that can't be used";

/** Searches the partner's order history, which is the only witness of a placement without an answer. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  return {
    async findOrders(input): Promise<OrderSearchResult> {
      const runId = activityInfo().workflowExecution?.runId ?? '';
      try {
        const found = await findOrders(deps.partner, input.referenceId, input.since);
        if (found.unusable > 0) throw failure(FAILURE.partnerUnavailable, UNUSABLE);
        const { orders, why } = found;
        if (orders.length > 0 || !input.prove) return { runId, orders, readable: false, why };
        return { runId, orders, ...(await proveReadable(deps.partner, found, input.sentBefore)) };
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
  const searched = await search(partner, referenceId);
  if (searched) {
    return { ...matching(searched, referenceId), how: 'search', rowsSeen: searched.length, why: 'searched' };
  }
  const scanned = await partner.ordersSince(since - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES });
  const why = 'scanned, the search is ignored';
  return { ...matching(scanned, referenceId), how: 'scan', rowsSeen: scanned.length, why };
}

/** @returns undefined where the partner ignores what is searched for. */
async function search(partner: PartnerClient, referenceId: string): Promise<HistoryOrder[] | undefined> {
  const rows: HistoryOrder[] = [];
  for await (const row of partner.orders({ search: referenceId }, { maxPages: MAX_PAGES })) {
    if (!mentions(row, referenceId)) return undefined;
    rows.push(row);
  }
  return rows;
}

/** A history that was scanned shows what it has; only an empty one proves nothing. */
function proveReadable(partner: PartnerClient, found: Found, sentBefore: number): Readability | Promise<Readability> {
  if (found.how === 'search') return proveSearch(partner, sentBefore);
  if (found.rowsSeen > 0) return { readable: true, why: found.why };
  return { readable: false, why: 'the order history is empty, which proves nothing' };
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
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .map((row) => ({
      id: row.id,
      status: presentableStatus(row.status),
      createdAt: new Date(row.createdAt).toISOString(),
    }));
  return { orders, unusable: own.length - usable.length };
}
