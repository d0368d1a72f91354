import { CLOCK_TOLERANCE_MS, endsPolling, isSafeOrderId } from '../../domain/order';
import {
  type KnownPurchase,
  mustBeInHistory,
  type PartnerOrder,
  type ReconcileOptions,
  type UnreadableRecord,
} from '../../domain/reconciliation/index';
import type { PurchaseReader } from '../../temporal/client';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { type OrderHistory, orderRetry, readOrder, readOrderHistory, withOrder } from './order-history';
import type { Progress } from '../progress';
import { describePurchase, type LaterDeliveries, listLaterDeliveries, listPurchases } from './purchase-lists';

/** How many followed orders are read at the same time. */
const PARALLEL = 4;

/** What the records are read with. */
export type ReadDependencies = Pick<ActivityDependencies, 'partner' | 'purchases' | 'fingerprints'>;

/** The records of both sides. */
export interface Records extends OrderHistory {
  purchases: KnownPurchase[];
  later: LaterDeliveries;
}

/** Reads the records of both sides, the partner's first. */
export async function readRecords(
  deps: ReadDependencies,
  options: ReconcileOptions,
  progress: Progress,
): Promise<Records> {
  const { partner, purchases: reader } = deps;
  const since = options.from - CLOCK_TOLERANCE_MS;
  const history = await readOrderHistory(partner, since, progress);
  const orders = history.orders.filter((order) => order.createdAt >= since);
  const later = await listLaterDeliveries(reader);
  const purchases = await listPurchases(reader, { from: options.from, orders, later }, progress);
  const isObsolete = (purchase: KnownPurchase) => isObsoleteRun(reader, purchase, later);
  const followed = await readFollowedOrders(deps, { orders, purchases, options, isObsolete }, progress);
  const read = new Map(followed.flatMap(({ order }) => (order ? [[order.id, order]] : [])));
  return {
    orders: [...orders.filter(({ id }) => !read.has(id)), ...read.values()],
    unreadable: [...history.unreadable, ...followed.flatMap(({ unreadable }) => unreadable ?? [])],
    purchases,
    later,
  };
}

/**
 * Reads one by one the orders that the history does not show: of older purchases that may still bring keys, and of those whose
 * order it should show, because a row that can't be read may hide it. Also those of overdue purchases that it shows as open: its
 * statuses need not be those of an order, and may lag.
 */
async function readFollowedOrders(
  { partner, fingerprints }: ReadDependencies,
  input: {
    orders: readonly PartnerOrder[];
    purchases: readonly KnownPurchase[];
    options: ReconcileOptions;
    isObsolete: (purchase: KnownPurchase) => Promise<boolean>;
  },
  progress: Progress,
): Promise<{ order?: PartnerOrder; unreadable?: UnreadableRecord }[]> {
  const { options } = input;
  const named = new Set(input.purchases.map(({ orderId }) => orderId));
  const shown = new Map<string, PartnerOrder>();
  for (const order of input.orders) if (named.has(order.id)) shown.set(order.id, order);
  const followed = input.purchases.filter((purchase) => {
    if (purchase.orderId === undefined) return false;
    const row = shown.get(purchase.orderId);
    if (row) return purchase.state === 'OVERDUE' && isMissingKeys(purchase) && !endsPolling(row.status);
    return mayStillBringKeys(purchase, options) || mustBeInHistory(purchase, options);
  });
  const retry = orderRetry(progress.signal);
  let done = 0;
  return inParallel(followed, PARALLEL, async (purchase) => {
    const { orderId = '', referenceId, startedAt } = purchase;
    const read = await readOrder(partner, orderId, retry);
    progress.show('reading followed orders', { done: ++done, of: followed.length });
    const known = shown.get(orderId) ?? { id: orderId, referenceId, status: '', createdAt: startedAt };
    if ('order' in read) return { order: withOrder(fingerprints, known, read.order, purchase.keyIds) };
    // Neither the history nor the partner itself shows it: it is missing there.
    if (read.error.kind === 'not-found' && mustBeInHistory(purchase, options)) return {};
    if (!mustBeInHistory(purchase, options) && (await input.isObsolete(purchase))) return {};
    const id = isSafeOrderId(orderId) ? orderId : undefined;
    return { unreadable: { what: 'order', id, referenceId, why: read.error.message } };
  });
}

/**
 * Whether a later run of the purchase has ended with the order, and nothing more is to come of it. A reset leaves a terminated run
 * behind; beyond the look-back that one is listed, and the later one is not.
 */
async function isObsoleteRun(reader: PurchaseReader, run: KnownPurchase, later: LaterDeliveries): Promise<boolean> {
  const latest = await describePurchase(reader, run.referenceId, later);
  if (!latest || latest.runId === run.runId || latest.orderId !== run.orderId) return false;
  return !isMissingKeys(latest) || isEndedForGood(latest);
}

function isEndedForGood({ execution, state }: KnownPurchase): boolean {
  return execution === 'COMPLETED' && state !== 'OVERDUE' && state !== 'PARTIALLY_DELIVERED';
}

function mayStillBringKeys(purchase: KnownPurchase, { from }: ReconcileOptions): boolean {
  return purchase.startedAt < from && isMissingKeys(purchase);
}

function isMissingKeys({ ordered = Infinity, delivered = 0 }: KnownPurchase): boolean {
  return delivered < ordered;
}
