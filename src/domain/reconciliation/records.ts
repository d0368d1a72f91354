import { groupBy } from '../group-by';
import { isSameAmount } from '../money';
import { countKeyIds, type KeyIds, unionOfKeyIds } from '../key-ids';
import { isBillable } from '../order';
import { hasResultOrIsRunning } from '../purchase-state';
import type { Finding } from './finding';

/** An order from the partner's order history. Some fields are known only if the order itself was also read. */
export interface PartnerOrder {
  id: string;
  /** Absent if the partner shows none. */
  referenceId?: string;
  /** The partner's own text. */
  status: string;
  /** Epoch ms, the partner's clock. */
  createdAt: number;
  /**
   * `item.amount` as received. The partner does not document whether it is for the whole order, for one piece, or for
   * the first of several products.
   */
  amount?: number;
  /** `total_debit` of the whole order. Known only from the order itself. */
  totalDebit?: number;
  /** Known only from the order itself; keys are redacted in it. */
  title?: string;
  /** `item.quantity` as received. It shows whether `amount` covers all products. */
  quantity?: number;
  /** The ids of delivered keys that are no longer in the order. Known only from the order itself. */
  goneKeyIds?: string[];
}

/** Something unread: a row of the order history, several rows, or a time; an order, or the memo of a purchase. */
export interface UnreadableRecord {
  what: 'time' | 'history' | 'row' | 'order' | 'memo';
  /** The order id, if it is safe to use in a command. */
  id?: string;
  referenceId?: string;
  /** What is wrong with it. Contains nothing that was received. */
  reason: string;
}

/** A run of a purchase, from Temporal's lists or descriptions, with its late deliveries. */
export interface KnownPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  /** The search attribute `PurchaseState`; empty if there is none. */
  state: string;
  /** RUNNING, COMPLETED, FAILED, TERMINATED, CANCELLED or TIMED_OUT. */
  workflowStatus: string;
  orderId?: string;
  /** The order that an earlier run recorded, while this one is running without an order. */
  earlierOrderId?: string;
  /** Epoch ms. */
  startedAt: number;
  closedAt?: number;
  totalDebit?: number;
  /**
   * Numbers of keys. `delivered` includes late deliveries, so the next reconciliation does not report them again, but no
   * key that the last of them no longer found in the order.
   */
  ordered?: number;
  delivered?: number;
  /** The ids of the keys that the checkout has received, by product. */
  keyIds?: KeyIds;
  /** Those of them that the last late delivery no longer found in the order. */
  goneKeyIds?: readonly string[];
  /** A late delivery failed, so keys may have been delivered without a confirmation. */
  keysMayHaveArrived?: boolean;
  /** The checkout was notified of a refund after the end of the purchase. */
  refundReceived?: boolean;
  hold?: { id: string; reason: string; decisions: string[] };
  /** Why the memo can't be read. Fields from the memo are then absent. */
  unreadable?: string;
}

export function isRunning(purchase: KnownPurchase): boolean {
  return purchase.workflowStatus === 'RUNNING';
}

/** Whether the order itself now shows a lower debit than when the purchase ended. */
export function isDebitLowered({ totalDebit: before }: KnownPurchase, { totalDebit: now }: PartnerOrder): boolean {
  return before !== undefined && now !== undefined && now < before && !isSameAmount(now, before);
}

/** Times are epoch ms. */
export interface ReconcileOptions {
  /** Taken before the first record was read. Purchases that ended later are left to the next run. */
  now: number;
  /** The start of the order history that was read. It may lack orders of earlier purchases. */
  from: number;
  /**
   * Orders since then are ignored: their placement may still be unknown. It is earlier than the start of the reading.
   */
  recentSince: number;
}

/** Whether the order history, as it was read, must show this purchase's order. */
export function isExpectedInHistory(purchase: KnownPurchase, { from, recentSince }: ReconcileOptions): boolean {
  const { orderId, startedAt, closedAt } = purchase;
  return orderId !== undefined && !isRunning(purchase) && startedAt >= from && (closedAt ?? startedAt) < recentSince;
}

/** The partner's orders and the purchases in Temporal, indexed for lookups. */
export interface RecordIndex {
  /** By order id. */
  orders: ReadonlyMap<string, PartnerOrder>;
  /** By reference of a purchase: the orders with this reference, or else those that the purchase owns. */
  ordersByReference: ReadonlyMap<string, readonly PartnerOrder[]>;
  /** By reference: the latest run. A reset leaves a terminated run that no longer describes the purchase. */
  purchases: ReadonlyMap<string, KnownPurchase>;
  /** By order id: the reference of the purchase that owns the order. */
  owners: ReadonlyMap<string, string>;
  /** By order id: every run that names the order, whether or not it owns it. */
  runsByOrder: ReadonlyMap<string, readonly KnownPurchase[]>;
  unreadable: readonly UnreadableRecord[];
  /** By order id. */
  unreadableById: ReadonlyMap<string, readonly UnreadableRecord[]>;
}

/**
 * Indexes the records in linear time.
 * @param orders by id
 */
export function indexRecords(
  orders: ReadonlyMap<string, PartnerOrder>,
  runs: readonly KnownPurchase[],
  unreadable: readonly UnreadableRecord[] = [],
): RecordIndex {
  const purchases = latestRuns(runs);
  const owners = ownersOf(purchases, orders);
  return {
    orders,
    ordersByReference: groupBy(orders.values(), ({ id, referenceId = '' }) =>
      purchases.has(referenceId) ? referenceId : owners.get(id),
    ),
    purchases,
    owners,
    runsByOrder: groupBy(runs, ({ orderId }) => orderId),
    unreadable,
    unreadableById: groupBy(unreadable, ({ id }) => id),
  };
}

function latestRuns(runs: readonly KnownPurchase[]): Map<string, KnownPurchase> {
  const latest = new Map<string, KnownPurchase>();
  for (const run of runs.toSorted(newestFirst)) {
    const last = latest.get(run.referenceId);
    latest.set(run.referenceId, last ? withEarlierRun(last, run) : run);
  }
  return latest;
}

/** A run that was stopped before it had an order. It does not hide the order of an earlier one. */
export function isWithoutOrder({
  orderId,
  workflowStatus,
}: Pick<KnownPurchase, 'orderId' | 'workflowStatus'>): boolean {
  return orderId === undefined && !hasResultOrIsRunning(workflowStatus);
}

/**
 * Adds what an earlier run left on record: its keys, unless they came from another order, and that order, if this run
 * ended without one.
 */
export function withEarlierRun(run: KnownPurchase, { orderId, ordered, keyIds = {} }: KnownPurchase): KnownPurchase {
  if (isRunning(run))
    return run.orderId === undefined ? { ...run, earlierOrderId: run.earlierOrderId ?? orderId } : run;
  const hasKeys = countKeyIds(keyIds) > 0;
  // Keys say nothing about an order that they did not come from.
  const isOfThisOrder = run.orderId === undefined ? hasKeys || isWithoutOrder(run) : run.orderId === orderId;
  if (!isOfThisOrder) return run;
  const received = hasKeys ? withKeys(run, unionOfKeyIds(run.keyIds ?? {}, keyIds)) : {};
  return { ...run, ...received, orderId: run.orderId ?? orderId, ordered: run.ordered ?? ordered };
}

/** A key that is no longer in the order may have been replaced, so it does not make up for a missing one. */
export function withKeys(
  { goneKeyIds = [] }: Pick<KnownPurchase, 'goneKeyIds'>,
  keyIds: KeyIds,
): Pick<KnownPurchase, 'keyIds' | 'delivered'> {
  return { keyIds, delivered: countKeyIds(keyIds) - goneKeyIds.length };
}

function newestFirst(one: KnownPurchase, other: KnownPurchase): number {
  if (isRunning(one) !== isRunning(other)) return isRunning(one) ? -1 : 1;
  // A reset may keep the start time of the first run.
  const later = one.startedAt - other.startedAt || (one.closedAt ?? 0) - (other.closedAt ?? 0);
  return -later || (one.runId > other.runId ? -1 : 1);
}

/**
 * If two purchases name one order, its owner is the purchase with the order's reference, or else the one that sorts
 * first. An order that only an earlier run recorded belongs to that purchase if no other one claims it.
 */
function ownersOf(purchases: RecordIndex['purchases'], orders: RecordIndex['orders']): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { orderId, referenceId } of purchases.values()) {
    if (orderId === undefined) continue;
    const other = owners.get(orderId);
    const shown = orders.get(orderId)?.referenceId;
    if (other === undefined || referenceId === shown || (other !== shown && referenceId < other)) {
      owners.set(orderId, referenceId);
    }
  }
  for (const { earlierOrderId, referenceId } of purchases.values()) {
    if (earlierOrderId === undefined || owners.has(earlierOrderId)) continue;
    const shown = orders.get(earlierOrderId)?.referenceId ?? '';
    owners.set(earlierOrderId, purchases.has(shown) ? shown : referenceId);
  }
  return owners;
}

/** A purchase's own order, and the other orders with its reference, oldest first. */
export interface OwnOrders {
  order?: PartnerOrder;
  others: PartnerOrder[];
}

/**
 * A purchase's own order is the one that it names, whatever the order's reference, because an operator may have chosen
 * it. If the purchase names none, its own order is the oldest billable order with its reference, or else the oldest. An
 * order that an earlier run recorded comes first.
 */
export function ordersOf({ referenceId, orderId, earlierOrderId }: KnownPurchase, records: RecordIndex): OwnOrders {
  const sameReference = records.ordersByReference.get(referenceId) ?? [];
  const free = sameReference.filter(({ id }) => (records.owners.get(id) ?? referenceId) === referenceId);
  const isLater = ({ id }: PartnerOrder) => Number(id !== earlierOrderId);
  const inOrder = free.toSorted(
    (a, b) => isLater(a) - isLater(b) || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
  );
  const order = orderId === undefined ? (inOrder.find(isBillable) ?? inOrder[0]) : records.orders.get(orderId);
  return { order, others: inOrder.filter((other) => other !== order) };
}

/**
 * The records needed to check a finding again: the orders that it names or that have its reference, the unreadable
 * records about these orders, and the references of all purchases that name one of them.
 */
export function recordsAbout(
  { referenceId, orderIds }: Finding,
  records: RecordIndex,
): { orders: PartnerOrder[]; unreadable: UnreadableRecord[]; references: string[] } {
  const named = orderIds.flatMap((id) => records.orders.get(id) ?? []);
  const sameReference = (referenceId !== undefined && records.ordersByReference.get(referenceId)) || [];
  const orders = [...new Set([...named, ...sameReference])];
  const ids = [...new Set([...orderIds, ...orders.map(({ id }) => id)])];
  const unreadable = ids.flatMap((id) => records.unreadableById.get(id) ?? []);
  const runs = ids.flatMap((id) => records.runsByOrder.get(id) ?? []);
  const references = [referenceId, ...runs.map((run) => run.referenceId)].filter((one) => one !== undefined);
  return { orders, unreadable, references: [...new Set(references)] };
}
