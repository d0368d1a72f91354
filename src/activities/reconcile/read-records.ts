import { type Fingerprinter, secretIdOf } from '../../delivery';
import { type KeyIds, keyIdsOf, missingKeyIds, unionOfKeyIds } from '../../domain/key-ids';
import { CLOCK_TOLERANCE_MS, canStopPolling, isSafeOrderId, rowsById, safeStatus } from '../../domain/order';
import { mayGetMoreKeys } from '../../domain/purchase-state';
import {
  type KnownPurchase,
  isExpectedInHistory,
  type PartnerOrder,
  type ReconcileOptions,
  type UnreadableRecord,
} from '../../domain/reconciliation/records';
import {
  partitionByReadability,
  type HistoryOrder,
  isPartnerError,
  isUnreadable,
  limitDelays,
  type Order,
  type PartnerClient,
  type PartnerError,
  type ReadRetry,
  type UnreadableRow,
  withRetry,
} from '../../partner';
import { orderDelays, pageDelays, readRetry } from '../../workflows/policies';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { addKeyIds } from '../order-keys';
import type { Progress } from '../progress';
import { readKnownPurchase, type LateDeliveries, listLateDeliveries, listKnownPurchases } from './purchase-lists';

/** The most unreadable rows that are read again. */
const MAX_READ_AGAIN = 200;
/** The most orders without a row that are searched for. */
const MAX_SEARCHED = 20;
const PARALLEL = 4;
/** How long after its purchase has ended an order may be missing from the history. Some partners update it slowly. */
const MAX_HISTORY_LAG_MS = 2 * 3_600_000;

/** The partner's orders and the purchases in Temporal. */
interface Records {
  /** By id. */
  orders: Map<string, PartnerOrder>;
  /** Rows of the history and orders that can't be read. */
  unreadable: UnreadableRecord[];
  purchases: KnownPurchase[];
  lateDeliveries: LateDeliveries;
}

/** Reads the partner's orders first, then the purchases in Temporal. */
export async function readRecords(
  deps: ActivityDependencies,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const since = options.from - CLOCK_TOLERANCE_MS;
  const { orders: all, unreadable } = await readOrderHistory(deps.partner, since, progress);
  const orders = rowsById(all.filter((order) => order.createdAt >= since));
  const lateDeliveries = await listLateDeliveries(deps.purchases);
  const purchases = await listKnownPurchases(deps.purchases, options.from, { orders, lateDeliveries }, progress);
  const read = await readFollowedOrders(deps, { orders, unreadable, purchases, lateDeliveries }, options, progress);
  const shown = new Set(all.map(({ id }) => id));
  const missing = await missingRows(deps.partner, orderRetry(progress.signal), { ...read, shown }, options);
  return { ...read, unreadable: [...read.unreadable, ...missing] };
}

/**
 * Reads single orders: those of older purchases that may still get keys, and those that the history should show but
 * does not. Also orders of overdue purchases that the history shows as open, because its statuses may lag.
 */
async function readFollowedOrders(
  deps: ActivityDependencies,
  { orders, purchases, lateDeliveries, ...history }: Records,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const unreadable = [...history.unreadable];
  const followed = purchases.filter((purchase) => {
    if (purchase.orderId === undefined) return false;
    const row = orders.get(purchase.orderId);
    if (row) return purchase.state === 'OVERDUE' && isMissingKeys(purchase) && !canStopPolling(row.status);
    return (purchase.startedAt < options.from && isMissingKeys(purchase)) || isExpectedInHistory(purchase, options);
  });
  const retry = orderRetry(progress.signal);
  let done = 0;
  await inParallel(followed, PARALLEL, async (purchase) => {
    const { orderId: id = '', referenceId, startedAt } = purchase;
    const read = await readOrder(deps.partner, id, retry, purchase.keyIds);
    progress.show('reading followed orders', { done: ++done, of: followed.length });
    if (!isPartnerError(read)) {
      const known = orders.get(id) ?? { id, referenceId, status: '', createdAt: startedAt };
      orders.set(id, withOrder(deps.fingerprints, known, read, purchase.keyIds));
      return;
    }
    const isMissing = read.kind === 'not-found';
    // If the partner does not know the order either, it is missing, which is a finding of its own.
    const isExpected = isExpectedInHistory(purchase, options)
      ? isMissing
      : await isObsoleteRun(deps, purchase, { orders, lateDeliveries });
    if (isExpected) return;
    unreadable.push({ what: 'order', id: isSafeOrderId(id) ? id : undefined, referenceId, reason: read.summary });
  });
  return { orders, unreadable, purchases, lateDeliveries };
}

/**
 * One record if the history has no row for orders that the partner shows on request. It may then also lack orders that
 * no purchase knows.
 */
async function missingRows(
  partner: PartnerClient,
  retry: ReadRetry,
  { orders, unreadable, purchases, shown }: Records & { shown: ReadonlySet<string> },
  options: ReconcileOptions,
): Promise<UnreadableRecord[]> {
  const unreadableIds = new Set(unreadable.map(({ id }) => id));
  if (unreadableIds.has(undefined)) return [];
  const missing = purchases.flatMap((purchase) => {
    const { orderId: id = '', closedAt = Infinity } = purchase;
    const isThere = orders.has(id) && !shown.has(id) && !unreadableIds.has(id) && isSafeOrderId(id);
    const isOld = isExpectedInHistory(purchase, options) && options.now - closedAt > MAX_HISTORY_LAG_MS;
    return isThere && isOld ? [id] : [];
  });
  // A purchase may have adopted an order that was placed long before it.
  const ids = [...new Set(missing)].slice(0, MAX_SEARCHED);
  const rows = await inParallel(ids, PARALLEL, (id) => readRowAgain(partner, id, retry));
  const example = ids.find((_, index) => !isBefore(options.from, rows[index]));
  if (example === undefined) return [];
  return [{ what: 'history', reason: `it lacks orders that the partner shows on request, such as ${example}` }];
}

function isBefore(from: number, row: HistoryOrder | undefined): boolean {
  return row !== undefined && Date.parse(row.createdAt) < from;
}

/**
 * Whether a later run of the purchase has finished with the same order. A reset leaves a terminated run, and the query
 * for older purchases lists that run but not the completed one.
 */
async function isObsoleteRun(
  { purchases }: ActivityDependencies,
  run: KnownPurchase,
  others: Pick<Records, 'orders' | 'lateDeliveries'>,
): Promise<boolean> {
  const latest = await readKnownPurchase(purchases, run.referenceId, others);
  if (!latest || latest.runId === run.runId || latest.orderId !== run.orderId) return false;
  const { workflowStatus, state } = latest;
  const isFinished = workflowStatus === 'COMPLETED' && !mayGetMoreKeys(state);
  return isFinished || !isMissingKeys(latest);
}

function isMissingKeys({ ordered = Infinity, delivered = 0 }: KnownPurchase): boolean {
  return delivered < ordered;
}

/**
 * Reads the order history back to a point in time. Orders that arrive during the reading may be included. An unreadable
 * row is searched for once more, and does not affect the others. Neither does a page that lacks rows.
 *
 * @param from epoch ms; some older orders may be included.
 */
export async function readOrderHistory(
  partner: PartnerClient,
  from: number,
  progress: Progress,
): Promise<{ orders: PartnerOrder[]; unreadable: UnreadableRecord[] }> {
  const rows: (PartnerOrder | UnreadableRow)[] = [];
  const pages = partner.ordersSince(from, {
    mustReachBack: true,
    retry: { ...readRetry, mayWait: limitDelays(pageDelays), signal: progress.signal },
    onPage: ({ page, pages, read, rows: orders }) =>
      progress.show('reading the order history', { page, pages, read, orders }),
  });
  let gap: string | undefined;
  try {
    for await (const page of pages) for (const row of page) rows.push(isUnreadable(row) ? row : partnerOrderOf(row));
  } catch (error) {
    if (!isPartnerError(error) || error.kind !== 'incomplete') throw error;
    gap = error.summary;
  }
  const { readable, unreadable } = partitionByReadability<PartnerOrder>(rows);
  const young = unreadable.filter(({ notAfter = Infinity }) => notAfter >= from);
  const retry = orderRetry(progress.signal);
  const again = await inParallel(young.slice(0, MAX_READ_AGAIN), PARALLEL, ({ id }) =>
    readRowAgain(partner, id, retry),
  );
  const found = again.filter((row) => row !== undefined).map(partnerOrderOf);
  const ids = new Set(found.map(({ id }) => id));
  return {
    orders: readable.concat(found),
    unreadable: young
      .filter(({ id }) => id === undefined || !ids.has(id))
      .map(unreadableRecordOf)
      .concat(gap === undefined ? [] : { what: 'history', reason: gap }),
  };
}

/** @returns undefined if the search does not show the order, or its row is still unreadable. */
async function readRowAgain(
  partner: PartnerClient,
  id: string | undefined,
  retry: ReadRetry,
): Promise<HistoryOrder | undefined> {
  if (id === undefined || !isSafeOrderId(id)) return undefined;
  const found = await tryToRead(retry, () => partner.listOrders({ search: id }));
  return isPartnerError(found) ? undefined : found.orders.find((order) => order.id === id);
}

/** Drops the partner's free text, except for a status in plain letters: a title may contain a key. */
function partnerOrderOf({ id, referenceId, status, createdAt, item }: HistoryOrder): PartnerOrder {
  return {
    id,
    referenceId,
    status: safeStatus(status),
    createdAt: Date.parse(createdAt),
    amount: item?.amount,
    quantity: item?.quantity,
  };
}

function unreadableRecordOf({ id, referenceId, problems }: UnreadableRow): UnreadableRecord {
  return {
    what: 'row',
    id: id !== undefined && isSafeOrderId(id) ? id : undefined,
    referenceId,
    reason: `expected ${problems.join(', ')}`,
  };
}

/** The retry for single orders. One instance serves a whole step of a reconciliation, because it adds up the delays. */
export function orderRetry(signal: AbortSignal): ReadRetry {
  return { ...readRetry, mayWait: limitDelays(orderDelays), signal };
}

/** Reads one order. Returns an error instead of throwing it, so that one bad order does not stop the rest. */
export function readOrder(
  partner: PartnerClient,
  orderId: string,
  retry: ReadRetry,
  received: KeyIds = {},
): Promise<Order | PartnerError> {
  return tryToRead(retry, () => partner.getOrder(orderId, Object.keys(received)));
}

/**
 * Retries temporary errors and returns permanent ones.
 * @throws errors that are not about the record, such as an abort
 */
async function tryToRead<T>(retry: ReadRetry, read: () => Promise<{ data: T }>): Promise<T | PartnerError> {
  try {
    const { data } = await withRetry(retry, read);
    return data;
  } catch (error) {
    retry.signal.throwIfAborted();
    if (!isPartnerError(error) || error.kind === 'closed') throw error;
    return error;
  }
}

/**
 * Completes an order from the history with a reading of the order.
 * @param received ids of the keys that the checkout has
 */
export function withOrder(
  fingerprints: Fingerprinter,
  known: PartnerOrder,
  order: Order,
  received: KeyIds = {},
): PartnerOrder {
  const { status, totalDebit, products } = order;
  const [first, ...others] = products;
  // With several products, one title would describe only a part of the order.
  const title = others.length === 0 ? first?.title : undefined;
  const goneKeyIds = goneKeys(fingerprints, order, received);
  return { ...known, status: safeStatus(status), totalDebit, title, goneKeyIds };
}

/** @returns undefined if this worker lacks a secret from which the key ids were made. */
function goneKeys(fingerprints: Fingerprinter, order: Order, received: KeyIds): string[] | undefined {
  const secretIds = new Set(Object.values(received).flat().map(secretIdOf));
  const named: KeyIds[] = [];
  for (const secretId of secretIds) {
    if (!fingerprints.keyIds([], secretId)) return undefined;
    named.push(keyIdsOf(addKeyIds({ fingerprints }, order, secretId)));
  }
  return missingKeyIds(received, unionOfKeyIds(...named));
}
