import { groupBy } from '../group-by';
import type { KeyIds } from '../key-ids';
import { isBillable } from '../order';
import {
  type Classification,
  classifyEnded,
  classifyKeys,
  classifyRunning,
  isStuck,
  KEYS_MISSING,
  NOT_DELIVERED,
  REPAIRABLE,
} from './classify';
import {
  describeClassified,
  describeOrphans,
  describeRepeatedKeys,
  describeSharedKeys,
  describeUnreadable,
} from './describe-finding';
import { type Finding, FINDING_KIND_NAMES } from './finding';
import {
  isRunning,
  type KnownPurchase,
  isExpectedInHistory,
  ordersOf,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
} from './records';

/**
 * Compares the partner's orders with the purchases in Temporal, in both directions. Both lists may lag, so each finding
 * must be checked again before anything is done about it. The order of the records does not matter.
 *
 * @param records the orders and purchases since `from`, the purchases that the orders name, and older purchases that
 *   may still get keys, with their orders.
 */
export function reconcile(records: RecordIndex, options: ReconcileOptions): Finding[] {
  const purchases = [...records.purchases.values()].filter((purchase) => isForThisRun(purchase, options));
  const orphans = [...records.orders.values()].filter((order) => isOrphan(order, records, options));
  return inReportOrder([
    ...purchases.flatMap((purchase) => findingsOf(purchase, records, options)),
    ...describeOrphans(orphans),
    ...unreadableFindings(records),
    ...findSharedKeys(purchases),
    ...findRepeatedKeys(purchases),
  ]);
}

/** What remains of a finding if its order has no new key and still lacks ordered keys. */
export function withKeysMissing(finding: Finding): Finding {
  return { ...finding, ...KEYS_MISSING, repair: undefined };
}

/** What remains of a finding if its order must not be delivered: advice that promises a delivery would be false. */
export function withoutDelivery(finding: Finding): Finding {
  return finding.repair === 'deliver' ? { ...finding, advice: NOT_DELIVERED } : finding;
}

/**
 * Leaves out purchases that started or ended while the records were being read: perhaps only one side shows the change.
 */
function isForThisRun({ startedAt, closedAt }: KnownPurchase, { now, recentSince }: ReconcileOptions): boolean {
  return startedAt < recentSince && (closedAt ?? -Infinity) < now;
}

function findingsOf(purchase: KnownPurchase, records: RecordIndex, options: ReconcileOptions): Finding[] {
  const { referenceId, orderId: id, unreadable: reason } = purchase;
  if (reason !== undefined) return [describeUnreadable({ what: 'memo', id, referenceId, reason }, purchase)];
  const own = ordersOf(purchase, records);
  const others = own.others.filter((other) => isBillable(other) && !isRecent(other, options));
  const order = own.order && !isRecent(own.order, options) ? own.order : undefined;
  if (own.order && !order && !isRunning(purchase)) return [];

  const finding = (classification: Classification | undefined, further: PartnerOrder[] = []) =>
    classification ? [describeClassified(classification, purchase, { order, others: further })] : [];
  const doubles = () => (others.length === 0 ? [] : finding(REPAIRABLE.doublePurchase, others));

  if (isRunning(purchase)) {
    // After a reset, only an operator knows which order is the right one, so none may be called the second.
    const isReset = purchase.earlierOrderId !== undefined;
    const found = finding(classifyRunning(purchase, order, options), isReset ? others : []);
    // A young purchase will have ended by the next night. The operator of a held one must know of the second order.
    const isReported = purchase.state === 'HELD' || isStuck(purchase.startedAt, options);
    return isReported && !isReset ? [...found, ...doubles()] : found;
  }
  const isUnreadable = records.unreadableById.has(purchase.orderId ?? '');
  if (!order && !isUnreadable && isExpectedInHistory(purchase, options)) {
    // Another order under the reference is probably the same order with a new id, not a second one.
    return finding({ kind: 'MISSING_AT_PARTNER' }, others);
  }
  if (!order) return doubles();
  return [...finding(classifyEnded(purchase, order, options)), ...finding(classifyKeys(order)), ...doubles()];
}

function isOrphan(order: PartnerOrder, { owners, purchases }: RecordIndex, options: ReconcileOptions): boolean {
  const { id, referenceId, createdAt } = order;
  const isKnown = owners.has(id) || (referenceId !== undefined && purchases.has(referenceId));
  return !isKnown && createdAt >= options.from && !isRecent(order, options);
}

function isRecent(order: PartnerOrder, { recentSince }: ReconcileOptions): boolean {
  return order.createdAt >= recentSince;
}

/** One finding for each unreadable record. If both a row and its order are unreadable, they are one finding. */
function unreadableFindings({ unreadable, unreadableById, purchases, owners }: RecordIndex): Finding[] {
  const nameless = unreadable.filter(({ id }) => id === undefined);
  const named = [...unreadableById.values()].flatMap((records) => records.at(-1) ?? []);
  return [...named, ...nameless].map((record) => {
    const referenceId = record.referenceId ?? (record.id && owners.get(record.id));
    return describeUnreadable({ ...record, referenceId }, purchases.get(referenceId ?? ''));
  });
}

/**
 * Finds keys that were delivered in several purchases. Purchases that share any number of keys are one finding. A key
 * delivered before and after a rotation of the secret is not found, because its two ids can't be compared.
 */
function findSharedKeys(purchases: Iterable<KnownPurchase>): Finding[] {
  const groups = groupBy(purchasesByRepeatedKey(purchases), (sharing) =>
    JSON.stringify(sharing.map(({ referenceId }) => referenceId)),
  );
  return [...groups.values()].map((group) => describeSharedKeys(group[0] ?? [], group.length));
}

/** Finds keys that were delivered more than once in one purchase. Each copy was paid for. */
function findRepeatedKeys(purchases: readonly KnownPurchase[]): Finding[] {
  return purchases.flatMap((purchase) => {
    const keys = countRepeatedKeys(purchase.keyIds);
    return keys === 0 ? [] : [describeRepeatedKeys(purchase, keys)];
  });
}

/** A second copy has the same id under another product, or `#2` after it. */
function countRepeatedKeys(keyIds: KeyIds = {}): number {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const keyId of Object.values(keyIds).flat()) {
    const [key = ''] = keyId.split('#');
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  return repeated.size;
}

/** For each key id that several purchases share, those purchases. */
function purchasesByRepeatedKey(purchases: Iterable<KnownPurchase>): KnownPurchase[][] {
  const first = new Map<string, KnownPurchase>();
  // Almost every key id has only one purchase, so lists are created only for the others.
  const repeated = new Map<string, KnownPurchase[]>();
  for (const purchase of purchases) {
    for (const keyId of new Set(Object.values(purchase.keyIds ?? {}).flat())) {
      const before = first.get(keyId);
      const sharing = repeated.get(keyId);
      if (!before) first.set(keyId, purchase);
      else if (sharing) sharing.push(purchase);
      else repeated.set(keyId, [before, purchase]);
    }
  }
  return [...repeated.values()];
}

/** Sorts by kind in the order of `FINDING_KIND_NAMES`, then by reference and order ids. */
export function inReportOrder<Some extends Finding>(findings: readonly Some[]): Some[] {
  return findings.toSorted(
    (a, b) =>
      FINDING_KIND_NAMES.indexOf(a.kind) - FINDING_KIND_NAMES.indexOf(b.kind) ||
      compare(a.referenceId ?? '', b.referenceId ?? '') ||
      compare(a.orderIds.join(), b.orderIds.join()),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
