import { activityInfo } from '@temporalio/activity';
import type { Activities, FindOrdersInput, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE, type FailureType } from '../contracts/failures';
import { CLOCK_TOLERANCE_MS, isBillable, isSafeOrderId, safeStatus } from '../domain/order';
import {
  partitionByReadability,
  type HistoryOrder,
  type HistoryRow,
  newestOf,
  oldestPossible,
  type PartnerClient,
  type UnreadableRow,
} from '../partner';
import { searchPermitWaitMs } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { failure, toFailure } from './failures';
import { createNewestReader, EMPTY_HISTORY, proveReadable, type ReadNewest } from './history-proof';

/** A search gives up after this many: 100,000 orders younger than one purchase are too many to scan. */
const MAX_PAGES = 200;
const UNUSABLE_ID = "an order with this reference has an id that can't be used";
const UNREADABLE_ROW = "the order history has a row that can't be read and may be the order for this reference";
const SIMILAR_REFERENCE =
  'the order history has an order whose reference differs from this one only in case, or is truncated';
const NO_REFERENCE =
  'the order history has a recent order without a reference, which may be the order for this reference';
/** A shorter text is more likely to be another reference. */
const MIN_TRUNCATED_LENGTH = 20;
/** The most orders in one result, because results are stored in the workflow's history. */
const MAX_FOUND_ORDERS = 100;

/** Searches the partner's order history, which is the only evidence of a placement without a response. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  const readNewest = createNewestReader(deps);
  return {
    async findOrders(input): Promise<OrderSearchResult> {
      const { scheduledTimestampMs: dueAt } = activityInfo();
      const permits = {
        class: 'confirmation',
        dueAt,
        notAfter: deps.now() + searchPermitWaitMs(deps.settings),
      } as const;
      try {
        return await deps.partner.withPermits(permits, (partner) =>
          searchHistory(partner, { ...deps, readNewest }, input),
        );
      } catch (error) {
        const failed = toFailure(error);
        // Only a search that got no permit is retried here. The workflow decides what any other failure means.
        if (failed.type === FAILURE.rateLimited) throw failed;
        throw failure(failed.type as FailureType, failed.message, { final: true });
      }
    },
  };
}

interface SearchDependencies {
  readNewest: ReadNewest;
  /** Epoch ms. */
  now: () => number;
}

async function searchHistory(
  partner: PartnerClient,
  deps: SearchDependencies,
  input: FindOrdersInput,
): Promise<OrderSearchResult> {
  const { orders, reason, how, rowsSeen } = requireClear(await findByReference(partner, input, deps.now));
  if (orders.length > 0 || !input.prove) return { orders, provesAbsence: false, reason };
  if (how === 'search') return proveAbsent(partner, deps, input);
  // A scan reads the list itself, so it needs no further proof unless the history is empty.
  return rowsSeen > 0
    ? { orders, provesAbsence: true, reason }
    : { orders, provesAbsence: false, reason: EMPTY_HISTORY };
}

/** The search found no order. The list of the newest orders is also checked, because the search may lag behind it. */
async function proveAbsent(
  partner: PartnerClient,
  { readNewest, now }: SearchDependencies,
  input: FindOrdersInput,
): Promise<OrderSearchResult> {
  const newest = await readNewest(partner);
  const { orders } = requireClear(findMatching(newest.rows, input, isYoungEnough(newest.rows, input, now())));
  if (orders.length > 0)
    return { orders, provesAbsence: false, reason: 'the list shows the order, but the search did not find it' };
  return { orders, ...(await proveReadable(partner, newest, input.sentBefore)) };
}

/** @throws ApplicationFailure `PartnerUnavailable` if it is unclear whether an order exists. */
function requireClear<T extends Pick<Found, 'unclear'>>(found: T): T {
  if (found.unclear !== undefined) throw failure(FAILURE.partnerUnavailable, found.unclear);
  return found;
}

type Wanted = Pick<FindOrdersInput, 'referenceId' | 'purchaseStartedAt' | 'requestMayHaveBeenSent'>;

interface Found {
  orders: FoundOrder[];
  /** Why an order may exist although none is returned: its id is unusable, or an unreadable row may be that order. */
  unclear: string | undefined;
  /** `scan` if the partner ignores the search parameter. */
  how: 'search' | 'scan';
  /** The number of rows that were read, whatever their reference. */
  rowsSeen: number;
  reason: string;
}

/**
 * Finds orders with exactly this reference. The partner's search may be fuzzy. If the partner ignores the search
 * parameter, the history is scanned back to the start of the purchase.
 * @throws PartnerError if the history could not be read completely
 */
export async function findByReference(partner: PartnerClient, wanted: Wanted, now: () => number): Promise<Found> {
  const searched = await search(partner, wanted.referenceId);
  if (searched) {
    return {
      ...findMatching(searched, wanted, () => true),
      how: 'search',
      rowsSeen: searched.length,
      reason: 'searched',
    };
  }
  const scanned = await partner.ordersSince(wanted.purchaseStartedAt - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES });
  const matched = findMatching(scanned, wanted, isYoungEnough(scanned, wanted, now()));
  return {
    ...matched,
    how: 'scan',
    rowsSeen: scanned.length,
    reason: 'scanned, because the partner ignores the search',
  };
}

/** In a list of all orders, a row can be the purchase's order only if it may be as young as the purchase. */
function isYoungEnough(
  rows: readonly HistoryRow[],
  { purchaseStartedAt }: Wanted,
  now: number,
): (row: Pick<UnreadableRow, 'notAfter'>) => boolean {
  const oldest = oldestPossible(purchaseStartedAt - CLOCK_TOLERANCE_MS, newestOf(rows), now);
  return ({ notAfter = Infinity }) => notAfter >= oldest;
}

/** @returns undefined if the partner ignores the search. */
async function search(partner: PartnerClient, referenceId: string): Promise<HistoryRow[] | undefined> {
  const rows: HistoryRow[] = [];
  for await (const row of partner.orders({ search: referenceId }, { maxPages: MAX_PAGES })) {
    if (!canMatch(row, referenceId)) return undefined;
    rows.push(row);
  }
  return rows;
}

/** Whether a search for this text may return the row. A row without a readable id or reference may always match. */
function canMatch({ referenceId, id }: HistoryRow, text: string): boolean {
  const names = [referenceId, id].filter((name) => name !== undefined);
  return names.length === 0 || names.some((name) => name.toLowerCase().includes(text.toLowerCase()));
}

/**
 * The orders with exactly this reference, each id once, oldest first. An unreadable row with this reference always
 * makes the result unclear. A row without a reference does so only if it is recent and a request may have been sent;
 * otherwise a single bad row would stop all new sales.
 */
function findMatching(
  rows: readonly HistoryRow[],
  { referenceId, requestMayHaveBeenSent }: Wanted,
  isRecentEnough: (row: Pick<UnreadableRow, 'notAfter'>) => boolean,
): Pick<Found, 'orders' | 'unclear'> {
  const { readable, unreadable } = partitionByReadability<HistoryOrder>(rows);
  const ofReference = readable.filter((row) => row.referenceId === referenceId);
  const own = [...new Map(ofReference.map((row) => [row.id, row])).values()];
  const usable = own.filter((row) => isSafeOrderId(row.id));
  const mayBeTheOrder = (row: Pick<UnreadableRow, 'referenceId' | 'notAfter'>) =>
    (row.referenceId === referenceId || (row.referenceId === undefined && requestMayHaveBeenSent)) &&
    isRecentEnough(row);
  const lacksReference = ({ referenceId: shown, createdAt }: HistoryOrder) =>
    !shown?.trim() && mayBeTheOrder({ notAfter: Date.parse(createdAt) });
  const isSimilar = (row: HistoryOrder) => requestMayHaveBeenSent && isVariantOf(referenceId, row.referenceId);
  if (usable.length < own.length) return { orders: foundOrders(usable), unclear: UNUSABLE_ID };
  if (own.length > 0) return { orders: foundOrders(usable), unclear: undefined };
  if (unreadable.some(mayBeTheOrder)) return { orders: [], unclear: UNREADABLE_ROW };
  if (readable.some(isSimilar)) return { orders: [], unclear: SIMILAR_REFERENCE };
  return { orders: [], unclear: readable.some(lacksReference) ? NO_REFERENCE : undefined };
}

/** Whether the partner may have turned the reference into this text, by changing its case or cutting it short. */
function isVariantOf(referenceId: string, shown: string | undefined): boolean {
  const whole = referenceId.toLowerCase();
  const part = shown?.trim().toLowerCase() ?? '';
  return whole === part || (part.length >= MIN_TRUNCATED_LENGTH && whole.startsWith(part));
}

/** If there are too many, failed and refunded orders are dropped first, because they are never adopted. */
function foundOrders(rows: readonly HistoryOrder[]): FoundOrder[] {
  const found = rows
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .map((row) => ({
      id: row.id,
      status: safeStatus(row.status),
      createdAt: new Date(row.createdAt).toISOString(),
    }));
  if (found.length <= MAX_FOUND_ORDERS) return found;
  const billable = found.filter(isBillable);
  return (billable.length > 0 ? billable : found).slice(0, MAX_FOUND_ORDERS);
}
