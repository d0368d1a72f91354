import { activityInfo } from '@temporalio/activity';
import type { Activities, FindOrdersInput, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE, type FailureType } from '../contracts/failures';
import { CLOCK_TOLERANCE_MS, isBillable, isSafeOrderId, presentableStatus } from '../domain/order';
import { byReadability, type HistoryOrder, type HistoryRow, type PartnerClient, type UnreadableRow } from '../partner';
import { searchPermitWait } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { failure, toFailure } from './failures';
import { createNewestReader, EMPTY_HISTORY, proveReadable, type ReadNewest } from './history-proof';

/** A search gives up beyond so many pages: 100,000 orders younger than one purchase are no history to scan. */
const MAX_PAGES = 200;
const UNUSABLE_ID = "an order bears this reference under an id that can't be used";
const UNREADABLE_ROW = "the order history has a row that can't be read and may be the order of this reference";
/** The most orders of one reference that are handed on: what goes into a history is bounded. */
const MOST_FOUND = 100;

/** Searches the partner's order history, the only witness of a placement without an answer. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  const readNewest = createNewestReader(deps);
  return {
    async findOrders(input): Promise<OrderSearchResult> {
      const { scheduledTimestampMs: dueAt } = activityInfo();
      const permits = { class: 'confirmation', dueAt, notAfter: deps.now() + searchPermitWait(deps.settings) } as const;
      try {
        return await deps.partner.withPermits(permits, (partner) => searchHistory(partner, readNewest, input));
      } catch (error) {
        const failed = toFailure(error);
        // The workflow decides what a failed search means; one that lacked a permit was no search.
        if (failed.type === FAILURE.rateLimited) throw failed;
        throw failure(failed.type as FailureType, failed.message, { final: true });
      }
    },
  };
}

async function searchHistory(
  partner: PartnerClient,
  readNewest: ReadNewest,
  input: FindOrdersInput,
): Promise<OrderSearchResult> {
  const { orders, why, how, rowsSeen } = requireClear(await findOrders(partner, input));
  if (orders.length > 0 || !input.prove) return { orders, readable: false, why };
  if (how === 'search') return proveAbsent(partner, readNewest, input);
  // A history that was scanned shows what it has; only an empty one proves nothing.
  return rowsSeen > 0 ? { orders, readable: true, why } : { orders, readable: false, why: EMPTY_HISTORY };
}

/** The search shows no order. If the list of the newest orders has one, the list counts: a search may lag behind it. */
async function proveAbsent(
  partner: PartnerClient,
  readNewest: ReadNewest,
  input: FindOrdersInput,
): Promise<OrderSearchResult> {
  const newest = await readNewest(partner);
  const { orders } = requireClear(matching(newest.rows, input, isYoungEnough(input)));
  if (orders.length > 0) return { orders, readable: false, why: 'listed, and not shown by the search' };
  return { orders, ...(await proveReadable(partner, newest, input.sentBefore)) };
}

/** @throws ApplicationFailure if it is not clear whether there is an order. */
function requireClear<T extends Pick<Found, 'unclear'>>(found: T): T {
  if (found.unclear !== undefined) throw failure(FAILURE.partnerUnavailable, found.unclear);
  return found;
}

type Wanted = Pick<FindOrdersInput, 'referenceId' | 'since' | 'mayHaveArrived'>;

interface Found {
  orders: FoundOrder[];
  /** Why nobody can say that there is no order: one can't be adopted, or a row that can't be read may be one. */
  unclear: string | undefined;
  /** A partner may ignore what is searched for. Then the history itself is scanned. */
  how: 'search' | 'scan';
  /** Rows that the partner showed, ours or not. */
  rowsSeen: number;
  why: string;
}

/**
 * Finds the orders that bear exactly this reference, byte for byte: a search may be fuzzy. If the answer shows that the search was
 * ignored, the history is scanned back to `since`. @throws PartnerError if the history could not be read to the end
 */
export async function findOrders(partner: PartnerClient, wanted: Wanted): Promise<Found> {
  const searched = await search(partner, wanted.referenceId);
  if (searched) {
    return { ...matching(searched, wanted, () => true), how: 'search', rowsSeen: searched.length, why: 'searched' };
  }
  const scanned = await partner.ordersSince(wanted.since - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES });
  const matched = matching(scanned, wanted, isYoungEnough(wanted));
  return { ...matched, how: 'scan', rowsSeen: scanned.length, why: 'scanned, the search is ignored' };
}

/** In a list of orders of all references, only a row that is no older than the purchase may be its own. */
function isYoungEnough({ since }: Wanted): (row: UnreadableRow) => boolean {
  return ({ notAfter = Infinity }) => notAfter >= since - CLOCK_TOLERANCE_MS;
}

/** @returns undefined if the partner ignores what is searched for. */
async function search(partner: PartnerClient, referenceId: string): Promise<HistoryRow[] | undefined> {
  const rows: HistoryRow[] = [];
  for await (const row of partner.orders({ search: referenceId }, { maxPages: MAX_PAGES })) {
    if (!mentions(row, referenceId)) return undefined;
    rows.push(row);
  }
  return rows;
}

/** A row of which neither name can be read may mention anything. */
function mentions({ referenceId, id }: HistoryRow, text: string): boolean {
  const names = [referenceId, id].filter((name) => name !== undefined);
  return names.length === 0 || names.some((name) => name.toLowerCase().includes(text.toLowerCase()));
}

/**
 * The rows of exactly this reference, each id once, oldest first. An unreadable row that names the reference always speaks against
 * "absent"; one that names none does so only if a request may have been sent, or one bad row would stop all new sales.
 */
function matching(
  rows: readonly HistoryRow[],
  { referenceId, mayHaveArrived }: Wanted,
  mayBeOurs: (row: UnreadableRow) => boolean,
): Pick<Found, 'orders' | 'unclear'> {
  const { readable, unreadable } = byReadability<HistoryOrder>(rows);
  const ofReference = readable.filter((row) => row.referenceId === referenceId);
  const own = [...new Map(ofReference.map((row) => [row.id, row])).values()];
  const usable = own.filter((row) => isSafeOrderId(row.id));
  const counts = (row: UnreadableRow) =>
    row.referenceId === undefined
      ? mayHaveArrived && mayBeOurs(row)
      : row.referenceId === referenceId && mayBeOurs(row);
  const unclear =
    usable.length < own.length ? UNUSABLE_ID : own.length === 0 && unreadable.some(counts) ? UNREADABLE_ROW : undefined;
  return { orders: foundOrders(usable), unclear };
}

/** Beyond what is handed on, orders that failed or were refunded are left out first: none of them is adopted. */
function foundOrders(rows: readonly HistoryOrder[]): FoundOrder[] {
  const found = rows
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .map((row) => ({
      id: row.id,
      status: presentableStatus(row.status),
      createdAt: new Date(row.createdAt).toISOString(),
    }));
  if (found.length <= MOST_FOUND) return found;
  const billable = found.filter(isBillable);
  return (billable.length > 0 ? billable : found).slice(0, MOST_FOUND);
}
