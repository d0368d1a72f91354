import { type Fingerprinter, secretIdOf } from '../../delivery';
import { type KeyIds, keyIdsOf, missingKeys, unionOfKeys } from '../../domain/line-totals';
import { CLOCK_TOLERANCE_MS, endsPolling, isSafeOrderId, presentableStatus } from '../../domain/order';
import {
  byId,
  type KnownPurchase,
  mustBeInHistory,
  type PartnerOrder,
  type ReconcileOptions,
  type UnreadableRecord,
} from '../../domain/reconciliation/records';
import {
  byReadability,
  type HistoryOrder,
  isPartnerError,
  isUnreadable,
  limitPauses,
  type Order,
  type PartnerClient,
  type PartnerError,
  type ReadRetry,
  type UnreadableRow,
  withRetry,
} from '../../partner/index';
import { orderPauses, pagePauses, readRetry } from '../../workflows/policies';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { nameKeys } from '../order-keys';
import type { Progress } from '../progress';
import { describePurchase, type LaterDeliveries, listLaterDeliveries, listPurchases } from './purchase-lists';

/** The most rows that are searched for again. */
const MOST_READ_AGAIN = 200;
/** How many are read at the same time. */
const PARALLEL = 4;

/** The records of both sides. */
interface Records {
  /** By id. */
  orders: Map<string, PartnerOrder>;
  /** Rows of the history, and orders, that can't be read. */
  unreadable: UnreadableRecord[];
  purchases: KnownPurchase[];
  later: LaterDeliveries;
}

/** Reads the records of both sides, the partner's first. */
export async function readRecords(
  deps: ActivityDependencies,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const since = options.from - CLOCK_TOLERANCE_MS;
  const { orders: all, unreadable } = await readOrderHistory(deps.partner, since, progress);
  const orders = byId(all.filter((order) => order.createdAt >= since));
  const later = await listLaterDeliveries(deps.purchases);
  const purchases = await listPurchases(deps.purchases, { from: options.from, orders, later }, progress);
  return readFollowedOrders(deps, { orders, unreadable, purchases, later }, options, progress);
}

/**
 * Reads one by one the orders that the history does not show: of older purchases that may still bring keys, and of those whose
 * order it should show, because a row that can't be read may hide it. Also those of overdue purchases that it shows as open: its
 * statuses need not be those of an order, and may lag.
 */
async function readFollowedOrders(
  deps: ActivityDependencies,
  { orders, purchases, later, ...history }: Records,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const unreadable = [...history.unreadable];
  const followed = purchases.filter((purchase) => {
    if (purchase.orderId === undefined) return false;
    const row = orders.get(purchase.orderId);
    if (row) return purchase.state === 'OVERDUE' && lacksKeys(purchase) && !endsPolling(row.status);
    return (purchase.startedAt < options.from && lacksKeys(purchase)) || mustBeInHistory(purchase, options);
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
    // If neither the history nor the partner itself shows an order, it is missing there, which is another finding.
    const isExpected = mustBeInHistory(purchase, options) ? isMissing : await isObsoleteRun(deps, purchase, later);
    if (isExpected) return;
    unreadable.push({ what: 'order', id: isSafeOrderId(id) ? id : undefined, referenceId, why: read.message });
  });
  return { orders, unreadable, purchases, later };
}

/**
 * Whether a later run of the purchase has ended with the order, and nothing more is to come of it. A reset leaves a terminated run
 * behind; beyond the look-back that one is listed, and the later one is not.
 */
async function isObsoleteRun(
  { purchases }: ActivityDependencies,
  run: KnownPurchase,
  later: LaterDeliveries,
): Promise<boolean> {
  const latest = await describePurchase(purchases, run.referenceId, later);
  if (!latest || latest.runId === run.runId || latest.orderId !== run.orderId) return false;
  const { execution, state } = latest;
  const isOver = execution === 'COMPLETED' && state !== 'OVERDUE' && state !== 'PARTIALLY_DELIVERED';
  return isOver || !lacksKeys(latest);
}

function lacksKeys({ ordered = Infinity, delivered = 0 }: KnownPurchase): boolean {
  return delivered < ordered;
}

/**
 * Reads the order history back to an instant, each order once. The orders that come in while it is read are for the next
 * run, though some may be among them. A row that can't be read is searched for again, and costs none of the others.
 *
 * @param from epoch ms; some that are older may be among them.
 */
export async function readOrderHistory(
  partner: PartnerClient,
  from: number,
  progress: Progress,
): Promise<{ orders: PartnerOrder[]; unreadable: UnreadableRecord[] }> {
  const rows = await partner.ordersSince(from, {
    retry: { ...readRetry, mayPause: limitPauses(pagePauses), signal: progress.signal },
    onPage: ({ page, pages, read, rows: orders }) =>
      progress.show('reading the order history', { page, pages, read, orders }),
    keep: (row) => (isUnreadable(row) ? row : partnerOrderOf(row)),
  });
  const { readable, unreadable } = byReadability<PartnerOrder>(rows);
  const young = unreadable.filter(({ notAfter = Infinity }) => notAfter >= from);
  const retry = orderRetry(progress.signal);
  const again = await inParallel(young.slice(0, MOST_READ_AGAIN), PARALLEL, (row) => readRowAgain(partner, row, retry));
  const found = again.filter((row) => row !== undefined).map(partnerOrderOf);
  const ids = new Set(found.map(({ id }) => id));
  return {
    orders: readable.concat(found),
    unreadable: young.filter(({ id }) => id === undefined || !ids.has(id)).map(unreadableRecordOf),
  };
}

/** @returns undefined where the search does not show it, or as little to be read as before. */
async function readRowAgain(
  partner: PartnerClient,
  { id }: UnreadableRow,
  retry: ReadRetry,
): Promise<HistoryOrder | undefined> {
  if (id === undefined || !isSafeOrderId(id)) return undefined;
  const found = await tryToRead(retry, () => partner.listOrders({ search: id }));
  return isPartnerError(found) ? undefined : found.orders.find((order) => order.id === id);
}

/** Of the partner's free text nothing goes on but a status in plain letters: a title may hold a key of this order. */
function partnerOrderOf({ id, referenceId, status, createdAt, item }: HistoryOrder): PartnerOrder {
  return {
    id,
    referenceId,
    status: presentableStatus(status),
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
    why: `expected ${problems.join(', ')}`,
  };
}

/** How the orders of one step of a reconciliation are read, all of them with the same one: it counts their pauses. */
export function orderRetry(signal: AbortSignal): ReadRetry {
  return { ...readRetry, mayPause: limitPauses(orderPauses), signal };
}

/** Reads one order at the partner, or says why it can't be read, so that one order stops nobody. @param confirmed by product */
export function readOrder(
  partner: PartnerClient,
  orderId: string,
  retry: ReadRetry,
  confirmed: KeyIds = {},
): Promise<Order | PartnerError> {
  return tryToRead(retry, () => partner.getOrder(orderId, Object.keys(confirmed)));
}

/** What passes is tried again; what lasts is the answer. @throws whatever says nothing about what was read */
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

/** What is known of an order, with what it said when it was read by itself. @param confirmed the keys that the checkout has confirmed */
export function withOrder(
  fingerprints: Fingerprinter,
  known: PartnerOrder,
  order: Order,
  confirmed: KeyIds = {},
): PartnerOrder {
  const { status, totalDebit, products } = order;
  const [first, ...others] = products;
  // Of an order of several products a title would be that of a part.
  const title = others.length === 0 ? first?.title : undefined;
  const keysGone = countKeysGone(fingerprints, order, confirmed);
  return { ...known, status: presentableStatus(status), totalDebit, title, keysGone };
}

/** @returns undefined where a secret that named the keys is not here. */
function countKeysGone(fingerprints: Fingerprinter, order: Order, confirmed: KeyIds): number | undefined {
  const secretIds = new Set(Object.values(confirmed).flat().map(secretIdOf));
  const named: KeyIds[] = [];
  for (const secretId of secretIds) {
    if (!fingerprints.keyIds([], secretId)) return undefined;
    named.push(keyIdsOf(nameKeys({ fingerprints }, order, secretId)));
  }
  return missingKeys(confirmed, unionOfKeys(...named)).length;
}
