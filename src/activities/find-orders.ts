import { activityInfo } from '@temporalio/activity';
import type { Activities, FindOrdersInput, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { FAILURE, type FailureType, retryDelayOf } from '../contracts/failures';
import { CLOCK_TOLERANCE_MS, isBillable, isSafeOrderId, rowsById, safeStatus } from '../domain/order';
import {
  partitionByReadability,
  type HistoryOrder,
  type HistoryRow,
  isPartnerError,
  newestOf,
  oldestPossible,
  type PartnerClient,
  type UnreadableRow,
} from '../partner';
import { searchPermitWaitMs } from '../workflows/policies';
import type { PurchaseReader } from '../temporal/client';
import { type ActivityDependencies, describeIfValid, ownRunId } from './dependencies';
import { failure, toFailure } from './failures';
import {
  createListReader,
  EMPTY_HISTORY,
  listedSince,
  MAX_PAGES,
  proveReadable,
  type ReadListed,
} from './history-proof';

/** The newest orders show the partner's clock. The newest hit of a search may be years old, so it counts as younger. */
const MAX_AGE_OF_NEWEST_MS = 24 * 3_600_000;
const NOT_LISTED = 'Temporal could not list the runs of this purchase, of which an earlier one may have an order';
const UNUSABLE_ID = "an order with this reference has an id that can't be used";
const UNREADABLE_ROW = "the order history has a row that can't be read and may be the order for this reference";
const NO_REFERENCE =
  'the order history has a recent order without a reference, which may be the order for this reference';
/** Letters and digits. A shorter text is more likely to be another reference. */
const MIN_SIMILAR_LENGTH = 6;
/** The most orders in one result, because results are stored in the workflow's history. */
const MAX_FOUND_ORDERS = 100;

/** Searches the partner's order history, which is the only evidence of a placement without a response. */
export function createFindOrdersActivities(deps: ActivityDependencies): Pick<Activities, 'findOrders'> {
  const readListed = createListReader(deps);
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
          searchHistory(partner, { ...deps, readListed }, input),
        );
      } catch (error) {
        const failed = toFailure(error);
        // Only a search that got no permit is retried here. The workflow decides what any other failure means.
        if (failed.type === FAILURE.rateLimited) throw failed;
        const retryInMs = retryDelayOf(failed) || undefined;
        throw failure(failed.type as FailureType, failed.message, { final: true, retryInMs });
      }
    },
  };
}

type SearchDependencies = Pick<ActivityDependencies, 'now' | 'purchases'>;

async function searchHistory(
  partner: PartnerClient,
  deps: SearchDependencies & { readListed: ReadListed },
  given: FindOrdersInput,
): Promise<OrderSearchResult> {
  const { firstRunId = ownRunId(), mayHaveEarlierExecution = false } = given;
  const input = { ...given, mayHaveEarlierRun: mayHaveEarlierExecution || firstRunId !== ownRunId() };
  const { orders, reason, how, rowsSeen, since } = requireClear(await findByReference(partner, input, deps));
  if (orders.length > 0 || !input.prove) return { orders, provesAbsence: false, reason };
  if (how === 'search') return proveAbsent(partner, deps, { ...input, purchaseStartedAt: since });
  // A scan reads the list itself, so it needs no further proof unless the history is empty.
  return rowsSeen > 0
    ? { orders, provesAbsence: true, reason }
    : { orders, provesAbsence: false, reason: EMPTY_HISTORY };
}

/** The search found no order. The list is also read, because the search may lag behind it, or miss some references. */
async function proveAbsent(
  partner: PartnerClient,
  { readListed, ...deps }: SearchDependencies & { readListed: ReadListed },
  input: Wanted & FindOrdersInput,
): Promise<OrderSearchResult> {
  const listed = await readListed(partner, input.purchaseStartedAt);
  const { orders } = requireClear(await findMatching(listed.rows, input, deps));
  if (listed.gap && !orders.some(isBillable)) throw listed.gap;
  if (orders.length > 0)
    return { orders, provesAbsence: false, reason: 'the list shows the order, but the search did not find it' };
  return { orders, ...(await proveReadable(partner, listed, input.sentBefore)) };
}

/** @throws ApplicationFailure `PartnerUnavailable` if it is unclear whether an order exists. */
function requireClear<T extends Pick<Found, 'unclear'>>(found: T): T {
  if (found.unclear !== undefined) throw failure(FAILURE.partnerUnavailable, found.unclear);
  return found;
}

interface Wanted extends Pick<FindOrdersInput, 'referenceId' | 'purchaseStartedAt' | 'requestMayHaveBeenSent'> {
  /** An earlier run or execution of this reference may have placed the order. */
  mayHaveEarlierRun: boolean;
}

interface Found {
  orders: FoundOrder[];
  /** Why an order may exist although none is returned: its id is unusable, or an unreadable row may be that order. */
  unclear: string | undefined;
  /** `scan` if the partner ignores the search parameter. */
  how: 'search' | 'scan';
  /** The number of rows that were read, whatever their reference. */
  rowsSeen: number;
  /** See `possibleSince`. */
  since: number;
  reason: string;
}

/**
 * Finds orders with exactly this reference. The partner's search may be fuzzy. If the partner ignores the search
 * parameter, the history is scanned back to the start of the purchase, or of an earlier one with the same reference.
 * The order that an earlier run recorded comes first. If only other orders have the reference, the result is unclear.
 * @throws PartnerError if it shows no billable order, and could not be read completely
 */
export async function findByReference(
  partner: PartnerClient,
  wanted: Wanted,
  deps: SearchDependencies,
): Promise<Found> {
  const searched = await search(partner, wanted.referenceId);
  const readRuns = () => deps.purchases.runsInTime(wanted.referenceId).catch(() => undefined);
  const runs = wanted.mayHaveEarlierRun ? await readRuns() : [];
  const since = possibleSince(wanted, runs, searched !== undefined);
  // Before the first request, no order can exist that a list would hide.
  const mustReachBack = wanted.requestMayHaveBeenSent || wanted.mayHaveEarlierRun;
  const { rows, gap } = searched ? { rows: searched } : await listedSince(partner, since, { mustReachBack });
  const minNewest = searched ? deps.now() - MAX_AGE_OF_NEWEST_MS : undefined;
  const found = await findMatching(rows, { ...wanted, purchaseStartedAt: since }, deps, minNewest);
  if (gap && !found.orders.some(isBillable)) throw gap;
  return {
    ...(wanted.mayHaveEarlierRun ? await withRecordedFirst(partner, found, wanted, runs, deps) : found),
    since,
    how: searched ? 'search' : 'scan',
    rowsSeen: rows.length,
    reason: searched ? 'searched' : 'scanned, because the partner ignores the search',
  };
}

type Runs = Awaited<ReturnType<PurchaseReader['runs']>>;

/** An earlier run may have delivered the order that it recorded, so another order would be a second one. */
async function withRecordedFirst(
  partner: PartnerClient,
  found: Pick<Found, 'orders' | 'unclear'>,
  { purchaseStartedAt }: Wanted,
  runs: Runs | undefined,
  { purchases }: SearchDependencies,
): Promise<Pick<Found, 'orders' | 'unclear'>> {
  const { orders } = found;
  // If the history shows one order, there is nothing to choose.
  const notListed = orders.length === 1 ? found : { orders, unclear: NOT_LISTED };
  if (!runs) return notListed;
  let id: string | undefined;
  try {
    id = await purchases.orderOfOtherRun(runs, ownRunId());
  } catch {
    return notListed;
  }
  if (id === undefined) return found;
  const shown = orders.find((order) => order.id === id);
  if (shown) return { ...found, orders: [shown, ...orders.filter((order) => order !== shown)] };
  try {
    const { data } = await partner.getOrder(id);
    // The real date is not known, and decides nothing.
    const recorded = { id, status: safeStatus(data.status), createdAt: new Date(purchaseStartedAt).toISOString() };
    const unclear = orders.length > 0 && isBillable(recorded) ? otherThanRecorded(id) : undefined;
    return { orders: [recorded, ...orders], unclear };
  } catch (error) {
    if (!isPartnerError(error)) throw error;
    if (error.kind === 'not-found') return found;
    return { orders, unclear: `an earlier run recorded the order ${id}, which can't be read: ${error.summary}` };
  }
}

/** Epoch ms: no order of this reference is older. The first execution may have placed it, long before this one. */
function possibleSince({ purchaseStartedAt }: Wanted, runs: Runs | undefined, isSearched: boolean): number {
  if (runs) return Math.min(purchaseStartedAt, ...runs.map(({ startTime }) => startTime.getTime()));
  // A search shows an order of any age. A scan that ends too early would miss it.
  if (isSearched) return purchaseStartedAt;
  throw failure(FAILURE.unexpected, NOT_LISTED);
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
 * makes the result unclear. Once a request may have been sent, so does a row that is recent enough to be its order and
 * has no reference or a similar one. Before that, a single bad row would stop all new sales.
 *
 * @param minNewest epoch ms: the partner's newest order is no older than this.
 */
async function findMatching(
  rows: readonly HistoryRow[],
  { referenceId, purchaseStartedAt, requestMayHaveBeenSent }: Wanted,
  { now, purchases }: SearchDependencies,
  minNewest = -Infinity,
): Promise<Pick<Found, 'orders' | 'unclear'>> {
  const { readable, unreadable } = partitionByReadability<HistoryOrder>(rows);
  const ofReference = readable.filter((row) => row.referenceId === referenceId);
  const own = [...rowsById(ofReference).values()];
  const usable = own.filter((row) => isSafeOrderId(row.id));
  if (usable.length < own.length) return { orders: foundOrders(usable), unclear: UNUSABLE_ID };
  if (own.length > 0) return { orders: foundOrders(usable), unclear: undefined };
  const unclear = (reason?: string) => ({ orders: [], unclear: reason });
  if (unreadable.some((row) => row.referenceId === referenceId)) return unclear(UNREADABLE_ROW);
  if (!requestMayHaveBeenSent) return unclear();
  const newest = Math.max(newestOf(rows), minNewest);
  const oldest = oldestPossible(purchaseStartedAt - CLOCK_TOLERANCE_MS, newest, now());
  const mayBeTheOrder = ({
    referenceId: shown,
    notAfter = Infinity,
  }: Pick<UnreadableRow, 'referenceId' | 'notAfter'>) => shown === undefined && notAfter >= oldest;
  if (unreadable.some(mayBeTheOrder)) return unclear(UNREADABLE_ROW);
  const recent = readable.filter(({ createdAt }) => Date.parse(createdAt) >= oldest);
  if (recent.some((row) => !row.referenceId?.trim())) return unclear(NO_REFERENCE);
  for (const row of recent.filter(({ referenceId: shown }) => isSimilar(referenceId, shown))) {
    if (!(await isOfPurchase(purchases, row))) return unclear(similarReference(row));
  }
  return unclear();
}

/**
 * Whether the partner may have turned the reference into this one: cut short, respelled, or with something in front.
 * One that continues ours is more likely to be another: SALE-2026-12 next to SALE-2026-1.
 */
function isSimilar(referenceId: string, shown = ''): boolean {
  const [ours, theirs] = [lettersAndDigits(referenceId), lettersAndDigits(shown)];
  if (ours === theirs) return true;
  const isLongEnough = Math.min(ours.length, theirs.length) >= MIN_SIMILAR_LENGTH;
  return isLongEnough && (ours.startsWith(theirs) || theirs.endsWith(ours));
}

function lettersAndDigits(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Whether the purchase with exactly this reference recorded this order, so that it is not ours. */
async function isOfPurchase(purchases: PurchaseReader, { id, referenceId = '' }: HistoryOrder): Promise<boolean> {
  try {
    const known = await describeIfValid(purchases, referenceId);
    if (!known) return false;
    if ((await purchases.recordedOrderId(known)) === id) return true;
    return (await purchases.orderOfOtherRun(await purchases.runsInTime(referenceId), known.runId)) === id;
  } catch {
    return false;
  }
}

/** An operator may have named the wrong order, or the partner may hide the right one. */
function otherThanRecorded(id: string): string {
  return `an earlier run recorded the order ${id}, but the order history shows only others with this reference`;
}

function similarReference({ id }: HistoryOrder): string {
  const name = isSafeOrderId(id) ? `the order ${id}` : 'an order';
  return `the order history has ${name}, whose reference is similar to this one, and which is not known to belong to another purchase`;
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
