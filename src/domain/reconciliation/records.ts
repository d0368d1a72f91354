import { groupBy } from '../group-by';
import { sameAmount } from '../money';
import type { KeyIds } from '../line-totals';
import { isBillable } from '../order';
import type { Finding } from './finding';

/** An order as the partner's order history shows it, and where it was read by itself, as that showed it. */
export interface PartnerOrder {
  id: string;
  /** Absent where the partner names none. */
  referenceId?: string;
  /** The partner's own text. */
  status: string;
  /** Epoch ms, the partner's clock. */
  createdAt: number;
  /**
   * `item.amount` as it came. It may be for the whole order or for one piece, and with several products for the first only: the
   * partner does not say.
   */
  amount?: number;
  /** `total_debit`, for the whole order. Known only of an order that was read by itself. */
  totalDebit?: number;
  /** Known only of an order that was read by itself, so that none of its keys is in it. */
  title?: string;
  /** `item.quantity` as it came. It shows whether `amount` is for all products. */
  quantity?: number;
  /** How many keys that the checkout has confirmed are no longer in it. Known only of an order that was read by itself. */
  keysGone?: number;
}

/** A row of the order history, an order, or the memo of a purchase that can't be read. */
export interface UnreadableRecord {
  what: 'row' | 'order' | 'memo';
  /** Of the order; absent where it has none that may stand in a command. */
  id?: string;
  referenceId?: string;
  /** What is wrong with it. Nothing of what was received. */
  why: string;
}

/** A run of a purchase, as lists and descriptions of Temporal show it, with its later deliveries. */
export interface KnownPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  /** The search attribute `PurchaseState`; empty if there is none. */
  state: string;
  /** RUNNING, COMPLETED, FAILED, TERMINATED, CANCELLED or TIMED_OUT. */
  execution: string;
  orderId?: string;
  /** Epoch ms. */
  startedAt: number;
  closedAt?: number;
  totalDebit?: number;
  /** Keys ordered, and keys delivered: those of late deliveries too, or a second reconciliation finds them again. */
  ordered?: number;
  delivered?: number;
  /** The ids of the keys that the checkout has confirmed, by product. */
  keyIds?: KeyIds;
  /** A later delivery has failed, so keys may have been delivered without a receipt. */
  mayBeDelivered?: boolean;
  hold?: { id: string; reason: string; decisions: string[] };
  /** Why its memo can't be read; what the memo would say is absent then. */
  unreadable?: string;
}

export function isRunning(purchase: KnownPurchase): boolean {
  return purchase.execution === 'RUNNING';
}

/** Whether the partner debits less by now than when the purchase ended, as the order itself said when it was read. */
export function isDebitLowered({ totalDebit: before }: KnownPurchase, { totalDebit: now }: PartnerOrder): boolean {
  return before !== undefined && now !== undefined && now < before && !sameAmount(now, before);
}

/** Instants are epoch ms. */
export interface ReconcileOptions {
  /** Taken before the first record was read. What ended at this instant or later is for the next run. */
  now: number;
  /** The order history was read back to here, so a purchase that began earlier is not missed in it. */
  from: number;
  /** What began at this instant or later is left alone. It lies before the reading of the order history began. */
  confirmedBefore: number;
}

/** Whether the order history that was read must show the order of this purchase. */
export function mustBeInHistory(purchase: KnownPurchase, { from, confirmedBefore }: ReconcileOptions): boolean {
  const { orderId, startedAt, closedAt } = purchase;
  return (
    orderId !== undefined && !isRunning(purchase) && startedAt >= from && (closedAt ?? startedAt) < confirmedBefore
  );
}

/** The partner's orders and the purchases here, by all that they are looked up by. */
export interface RecordIndex {
  /** By order id. */
  orders: ReadonlyMap<string, PartnerOrder>;
  /** Those that bear the reference of a purchase. */
  ordersByReference: ReadonlyMap<string, readonly PartnerOrder[]>;
  /** By reference: the latest run. A reset leaves a terminated run behind, which no longer describes the purchase. */
  purchases: ReadonlyMap<string, KnownPurchase>;
  /** By order id: the reference of the one purchase that owns the order. */
  owners: ReadonlyMap<string, string>;
  /** By order id: every run that names the order, owner or not. */
  runsByOrder: ReadonlyMap<string, readonly KnownPurchase[]>;
  unreadable: readonly UnreadableRecord[];
  /** By order id: those that name one. */
  unreadableById: ReadonlyMap<string, readonly UnreadableRecord[]>;
}

/** Orders by their ids. One that was read twice counts as it was read last. */
export function byId(orders: Iterable<PartnerOrder>): Map<string, PartnerOrder> {
  const known = new Map<string, PartnerOrder>();
  for (const order of orders) known.set(order.id, order);
  return known;
}

/** Indexes the records of both sides. Linear. @param orders by id */
export function indexRecords(
  orders: ReadonlyMap<string, PartnerOrder>,
  runs: readonly KnownPurchase[],
  unreadable: readonly UnreadableRecord[] = [],
): RecordIndex {
  const purchases = latestRuns(runs);
  return {
    orders,
    ordersByReference: groupBy(orders.values(), ({ referenceId = '' }) =>
      purchases.has(referenceId) ? referenceId : undefined,
    ),
    purchases,
    owners: ownersOf(purchases.values(), orders),
    runsByOrder: groupBy(runs, ({ orderId }) => orderId),
    unreadable,
    unreadableById: groupBy(unreadable, ({ id }) => id),
  };
}

function latestRuns(runs: Iterable<KnownPurchase>): Map<string, KnownPurchase> {
  const latest = new Map<string, KnownPurchase>();
  for (const run of runs) {
    const other = latest.get(run.referenceId);
    if (!other || supersedes(run, other)) latest.set(run.referenceId, run);
  }
  return latest;
}

function supersedes(one: KnownPurchase, other: KnownPurchase): boolean {
  if (isRunning(one) !== isRunning(other)) return isRunning(one);
  // A reset may keep the instant at which the first run began.
  const later = one.startedAt - other.startedAt || (one.closedAt ?? 0) - (other.closedAt ?? 0);
  return later === 0 ? one.runId > other.runId : later > 0;
}

/** If two purchases name one order, its owner is the one whose reference the order bears, else the one that sorts first. */
function ownersOf(purchases: Iterable<KnownPurchase>, orders: RecordIndex['orders']): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { orderId, referenceId } of purchases) {
    if (orderId === undefined) continue;
    const other = owners.get(orderId);
    const borne = orders.get(orderId)?.referenceId;
    if (other === undefined || referenceId === borne || (other !== borne && referenceId < other)) {
      owners.set(orderId, referenceId);
    }
  }
  return owners;
}

/** The order that counts as a purchase's own, and the further ones that bear its reference, oldest first. */
export interface OwnOrders {
  order?: PartnerOrder;
  others: PartnerOrder[];
}

/**
 * A purchase's own order is the one that it names, whatever reference that order bears: an operator may have chosen it. Where
 * it names none, its own is the oldest billable order of its reference, else the oldest.
 */
export function ordersOf({ referenceId, orderId }: KnownPurchase, records: RecordIndex): OwnOrders {
  const borne = records.ordersByReference.get(referenceId) ?? [];
  const free = borne.filter(({ id }) => (records.owners.get(id) ?? referenceId) === referenceId);
  const byAge = free.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const order = orderId === undefined ? (byAge.find(isBillable) ?? byAge[0]) : records.orders.get(orderId);
  return { order, others: byAge.filter((other) => other !== order) };
}

/**
 * The records that decide whether a finding holds: the orders that it names or that bear its reference, those of them that
 * can't be read and so are not missing, and the references of the purchases that name one of these orders, because the owner
 * of an order decides what it means.
 */
export function recordsAbout(
  { referenceId, orderIds }: Finding,
  records: RecordIndex,
): { orders: PartnerOrder[]; unreadable: UnreadableRecord[]; references: string[] } {
  const named = orderIds.flatMap((id) => records.orders.get(id) ?? []);
  const borne = (referenceId !== undefined && records.ordersByReference.get(referenceId)) || [];
  const orders = [...new Set([...named, ...borne])];
  const ids = [...new Set([...orderIds, ...orders.map(({ id }) => id)])];
  const unreadable = ids.flatMap((id) => records.unreadableById.get(id) ?? []);
  const runs = ids.flatMap((id) => records.runsByOrder.get(id) ?? []);
  const references = [referenceId, ...runs.map((run) => run.referenceId)].filter((one) => one !== undefined);
  return { orders, unreadable, references: [...new Set(references)] };
}
