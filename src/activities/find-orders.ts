import { activityInfo } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import type { Activities, FindOrdersInput, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE, type FailureType } from '../contracts/failures';
import { CLOCK_TOLERANCE_MS } from '../domain/clock-tolerance';
import { isBillable, isSafeOrderId, presentableStatus } from '../domain/order';
import { byReadability, type HistoryOrder, type HistoryRow, type PartnerClient, type UnreadableRow } from '../partner';
import { searchSlotWait } from '../workflows/policies';
import { failure, toFailure } from './failures';
import type { ActivityDependencies } from './dependencies';
import { EMPTY_HISTORY, NEWEST_SAMPLE, proveSearch } from './prove-readable';

/** Beyond this many pages a search gives up: 100,000 orders younger than one purchase are no history to scan. */
const MAX_PAGES = 200;
/** Why an order that is there can't be taken over. */
const UNUSABLE_ID = "an order bears this reference under an id that can't be used";
/** Why no order can be called absent. */
const UNREADABLE_ROW = "the order history has a row that can't be read and may be the order of this reference";
/** The most orders of one reference that are handed on: what goes into a history is bounded. */
const MOST_FOUND = 100;

/** Searches the partner's order history, which is the only witness of a placement without an answer. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  return {
    async findOrders(input): Promise<OrderSearchResult> {
      const { workflowExecution, scheduledTimestampMs: dueAt } = activityInfo();
      const runId = workflowExecution?.runId ?? '';
      const notAfter = deps.now() + searchSlotWait(deps.settings);
      const ask = { class: 'confirmation', dueAt, notAfter } as const;
      try {
        return await deps.partner.withPermits(ask, async (partner) => ({
          runId,
          ...(await searchHistory(partner, input)),
        }));
      } catch (error) {
        throw finalUnlessRateLimited(toFailure(error));
      }
    },
  };
}

async function searchHistory(
  partner: PartnerClient,
  input: FindOrdersInput,
): Promise<Omit<OrderSearchResult, 'runId'>> {
  const { orders, why, how, rowsSeen } = requireUsable(await findOrders(partner, input.referenceId, input.since));
  if (orders.length > 0 || !input.prove) return { orders, readable: false, why };
  if (how === 'search') return proveAbsent(partner, input);
  // A history that was scanned shows what it has; only an empty one proves nothing.
  return rowsSeen > 0 ? { orders, readable: true, why } : { orders, readable: false, why: EMPTY_HISTORY };
}

/**
 * The search shows no order. It is not believed where the list of the newest has one: what a search knows may lag behind the list, and
 * need not have come in its order.
 */
async function proveAbsent(
  partner: PartnerClient,
  { referenceId, since, sentBefore }: FindOrdersInput,
): Promise<Omit<OrderSearchResult, 'runId'>> {
  const newest = await partner.newestOrders(NEWEST_SAMPLE);
  const { orders } = requireUsable(matching(newest.rows, referenceId, mayBeOursSince(since, referenceId)));
  if (orders.length > 0) return { orders, readable: false, why: 'listed, and not shown by the search' };
  return { orders, ...(await proveSearch(partner, newest, sentBefore)) };
}

/** @throws ApplicationFailure where what was found settles nothing. */
function requireUsable<T extends Pick<Found, 'unusable'>>(found: T): T {
  if (found.unusable !== undefined) throw failure(FAILURE.partnerUnavailable, found.unusable);
  return found;
}

/** The workflow decides what a failed search means; one that could not be made is no such search. */
function finalUnlessRateLimited(failed: ApplicationFailure): ApplicationFailure {
  if (failed.type === FAILURE.rateLimited) return failed;
  return failure(failed.type as FailureType, failed.message, { final: true });
}

interface Found {
  orders: FoundOrder[];
  /** Why what was found settles nothing: there is, or may be, an order that can't be taken over. */
  unusable: string | undefined;
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
    const mayBeOurs = (row: UnreadableRow) => (row.referenceId ?? referenceId) === referenceId;
    return { ...matching(searched, referenceId, mayBeOurs), how: 'search', rowsSeen: searched.length, why: 'searched' };
  }
  const scanned = await partner.ordersSince(since - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES });
  const why = 'scanned, the search is ignored';
  const matched = matching(scanned, referenceId, mayBeOursSince(since, referenceId));
  return { ...matched, how: 'scan', rowsSeen: scanned.length, why };
}

/** Of a list of orders of all references, a row that can't be read may be ours if it is young enough and names no other. */
function mayBeOursSince(since: number, referenceId: string): (row: UnreadableRow) => boolean {
  const from = since - CLOCK_TOLERANCE_MS;
  return (row) => (row.referenceId ?? referenceId) === referenceId && (row.notAfter ?? Infinity) >= from;
}

/** @returns undefined where the partner ignores what is searched for. */
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
  const wanted = text.toLowerCase();
  return names.length === 0 || names.some((name) => name.toLowerCase().includes(wanted));
}

/**
 * The rows of exactly this reference, each id once, oldest first. Of the partner's free text nothing goes on but what has been checked. A row
 * that can't be read stands against nothing but the absence of an order.
 */
function matching(
  rows: readonly HistoryRow[],
  referenceId: string,
  mayBeOurs: (row: UnreadableRow) => boolean,
): Pick<Found, 'orders' | 'unusable'> {
  const { readable, unreadable } = byReadability<HistoryOrder>(rows);
  const ofReference = readable.filter((row) => row.referenceId === referenceId);
  const own = [...new Map(ofReference.map((row) => [row.id, row])).values()];
  const usable = own.filter((row) => isSafeOrderId(row.id));
  if (usable.length < own.length) return { orders: foundOrders(usable), unusable: UNUSABLE_ID };
  const isAbsenceOpen = own.length === 0 && unreadable.some(mayBeOurs);
  return { orders: foundOrders(usable), unusable: isAbsenceOpen ? UNREADABLE_ROW : undefined };
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
