import type { FindingKind } from './finding-kinds';

/** An order as the partner's history shows it. */
export interface PartnerOrder {
  id: string;
  /** Absent where the partner names none. */
  referenceId?: string;
  /** The partner's own text. */
  status: string;
  /** Epoch ms. */
  createdAt: number;
  /** `item.amount` as it came. With several products it may be that of the first only: the partner does not say. */
  amount?: number;
  title?: string;
  /** `item.quantity` as it came. It tells whether `amount` is for the whole order. */
  quantity?: number;
}

/** A run of a purchase, as lists and descriptions of Temporal show it, with what was delivered after its end. */
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
  /** Keys ordered, and keys handed over: those of late deliveries too, or a second reconciliation finds them again. */
  ordered?: number;
  delivered?: number;
  /** By product, of what was handed over. */
  fingerprints?: Record<string, string[]>;
  hold?: { id: string; reason: string; decisions: string[] };
  /** The partner's status at the last look that counted keys here, where that is known. */
  lastSeen?: string;
  /** What the checkout has been told of by reconciliations before: `findingKey` of each. */
  notified?: readonly string[];
}

/**
 * What a reconciliation may do about a finding by itself. None of it buys.
 *
 * - `deliver-late`: look at the order and hand over what the checkout does not have.
 * - `adopt`: tell the held purchase which order is its own.
 * - `notify-refund`: tell the checkout that the partner has given the money back.
 * - `notify-attention`: tell the checkout that a person must look.
 */
export type Repair = 'deliver-late' | 'adopt' | 'notify-refund' | 'notify-attention';

/** Something that the books of both sides do not agree on. */
export interface Finding {
  kind: FindingKind;
  referenceId?: string;
  /** The order that counts first. */
  orderIds: string[];
  workflowId?: string;
  /**
   * `debited`: what the order's keys showed here as `total_debit`. `history`: what the history shows for the first order.
   * `surplus`: what it shows for the further orders together.
   */
  amounts: Record<string, number>;
  /** What is wrong, in one sentence. It holds no key. */
  explanation: string;
  /** What a person should do if it is not mended. */
  advice: string;
  repair?: Repair;
}

/** Instants are epoch ms. */
export interface ReconcileOptions {
  now: number;
  /** The history was read back to here, so a purchase that began earlier is not missed in it. */
  from: number;
  /** What began at this instant or later is left alone. It lies before the reading of the history began. */
  settledBefore: number;
  stuckAfterMs: number;
}

/** How an order stands at the partner. A status never heard of is `open`: nothing is known to follow from it. */
export type StatusClass = 'complete' | 'partial' | 'refunded' | 'failed' | 'open';

export function statusClassOf(status: string): StatusClass {
  switch (status) {
    case 'COMPLETED':
      return 'complete';
    case 'PARTIAL_COMPLETED':
      return 'partial';
    case 'REFUNDED':
      return 'refunded';
    case 'FAILED':
      return 'failed';
    default:
      return 'open';
  }
}

/** Whether an order costs money as it stands. */
export function isBillable(order: PartnerOrder): boolean {
  const standing = statusClassOf(order.status);
  return standing !== 'refunded' && standing !== 'failed';
}

/** The orders of the partner by what they are looked up by, and who here says that an order is his. */
export interface RecordIndex {
  byId: ReadonlyMap<string, PartnerOrder>;
  byReference: ReadonlyMap<string, readonly PartnerOrder[]>;
  /** The reference of the purchase that names this order as its own. */
  claimedBy: ReadonlyMap<string, string>;
  known: ReadonlyMap<string, KnownPurchase>;
}

/** Opens the books of both sides. An order that was read twice counts as it was read last. */
export function indexRecords(orders: readonly PartnerOrder[], purchases: readonly KnownPurchase[]): RecordIndex {
  const byId = new Map(orders.map((order) => [order.id, order]));
  const byReference = new Map<string, PartnerOrder[]>();
  for (const order of byId.values()) {
    if (order.referenceId === undefined) continue;
    const group = byReference.get(order.referenceId);
    if (group) group.push(order);
    else byReference.set(order.referenceId, [order]);
  }
  const known = latestRuns(purchases);
  return { byId, byReference, claimedBy: claimsOf(known.values(), byId), known };
}

/** Of two purchases that name one order, that counts whose reference the order bears; else the one that sorts first. */
function claimsOf(purchases: Iterable<KnownPurchase>, byId: RecordIndex['byId']): Map<string, string> {
  const claims = new Map<string, string>();
  for (const { orderId, referenceId } of purchases) {
    if (orderId === undefined) continue;
    const other = claims.get(orderId);
    const rightful = byId.get(orderId)?.referenceId;
    if (other === undefined || referenceId === rightful || (other !== rightful && referenceId < other)) {
      claims.set(orderId, referenceId);
    }
  }
  return claims;
}

/** A reset leaves a terminated run behind, which says nothing about the purchase any more. */
function latestRuns(purchases: readonly KnownPurchase[]): Map<string, KnownPurchase> {
  const latest = new Map<string, KnownPurchase>();
  for (const purchase of purchases) {
    const other = latest.get(purchase.referenceId);
    if (!other || supersedes(purchase, other)) latest.set(purchase.referenceId, purchase);
  }
  return latest;
}

function supersedes(one: KnownPurchase, other: KnownPurchase): boolean {
  if (isRunning(one) !== isRunning(other)) return isRunning(one);
  // A reset may keep the instant at which the first run began.
  const later = one.startedAt - other.startedAt || (one.closedAt ?? 0) - (other.closedAt ?? 0);
  return later === 0 ? one.runId > other.runId : later > 0;
}

export function isRunning(purchase: KnownPurchase): boolean {
  return purchase.execution === 'RUNNING';
}

/** The order that a purchase goes by, and all others that bear its reference, oldest first. */
export interface OwnOrders {
  order?: PartnerOrder;
  others: PartnerOrder[];
}

/**
 * The order that the purchase names, whatever its reference: a person may have told it. A purchase that names none goes by the
 * first of its reference that was not refused.
 */
export function ordersOf(purchase: KnownPurchase, books: RecordIndex): OwnOrders {
  const { referenceId, orderId } = purchase;
  const free = (books.byReference.get(referenceId) ?? []).filter((order) => {
    const owner = books.claimedBy.get(order.id);
    return owner === undefined || owner === referenceId;
  });
  const byAge = free.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const order = orderId === undefined ? (byAge.find(isBillable) ?? byAge[0]) : books.byId.get(orderId);
  return { ...(order && { order }), others: byAge.filter((other) => other !== order) };
}
