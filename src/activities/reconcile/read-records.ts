import { CLOCK_TOLERANCE_MS, endsPolling, isSafeOrderId } from '../../domain/order';
import { type KnownPurchase, mustBeInHistory, type ReconcileOptions } from '../../domain/reconciliation/records';
import { isPartnerError } from '../../partner';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { type OrderHistory, orderRetry, readOrder, readOrderHistory, withOrder } from './order-history';
import type { Progress } from '../progress';
import { describePurchase, type LaterDeliveries, listLaterDeliveries, listPurchases } from './purchase-lists';

/** How many followed orders are read at the same time. */
const PARALLEL = 4;

/** The records of both sides. */
export interface Records extends OrderHistory {
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
  const orders = all.filter((order) => order.createdAt >= since);
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
  { purchases, later, ...history }: Records,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const orders = new Map(history.orders.map((order) => [order.id, order]));
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
    const read = await readOrder(deps.partner, id, retry);
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
  return { orders: [...orders.values()], unreadable, purchases, later };
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
