import { groupBy } from '../group-by';
import { isBillable } from '../order';
import { type Classification, classifyEnded, classifyKeys, classifyRunning, KEYS_MISSING, REPAIRED } from './classify';
import { describeClassified, describeOrphans, describeSameKeys, describeUnreadable } from './describe-finding';
import { type Finding, FINDING_KINDS } from './finding';
import {
  isRunning,
  type KnownPurchase,
  mustBeInHistory,
  ordersOf,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
} from './records';

/**
 * Compares the partner's orders with the purchases here, both ways. A finding is what two lists suggest, and both may lag: it is
 * confirmed before anything is done about it. The same records give the same list, whatever order they are in.
 *
 * @param records the orders since `from`, and those of older purchases that are followed; the purchases of the same time,
 *   those that the orders name, and those that are followed.
 */
export function reconcile(records: RecordIndex, options: ReconcileOptions): Finding[] {
  const confirmed = [...records.purchases.values()].filter((purchase) => isForThisRun(purchase, options));
  const orphans = [...records.orders.values()].filter((order) => isOrphan(order, records, options));
  return inReportOrder([
    ...confirmed.flatMap((purchase) => findingsOf(purchase, records, options)),
    ...describeOrphans(orphans),
    ...unreadableFindings(records),
    ...sameKeys(confirmed),
  ]);
}

/** What remains of a finding when its order turns out to hold no new key, and not all that were ordered. */
export function withKeysMissing(finding: Finding): Finding {
  return { ...finding, ...KEYS_MISSING, repair: undefined };
}

/**
 * Both records are read at one instant as far as they can be: what began or ended while they were read, however long that took,
 * was seen by one of them only.
 */
function isForThisRun({ startedAt, closedAt }: KnownPurchase, { now, confirmedBefore }: ReconcileOptions): boolean {
  return startedAt < confirmedBefore && (closedAt ?? -Infinity) < now;
}

function findingsOf(purchase: KnownPurchase, records: RecordIndex, options: ReconcileOptions): Finding[] {
  const { referenceId, orderId: id, unreadable: why } = purchase;
  if (why !== undefined) return [describeUnreadable({ what: 'memo', id, referenceId, why }, purchase)];
  const own = ordersOf(purchase, records);
  const others = own.others.filter((other) => isBillable(other) && isConfirmed(other, options));
  const order = own.order && isConfirmed(own.order, options) ? own.order : undefined;
  if (own.order && !order && !isRunning(purchase)) return [];

  const finding = (classification: Classification | undefined, further: PartnerOrder[] = []) =>
    classification ? [describeClassified(classification, purchase, { order, others: further })] : [];
  const doubles = () => (others.length === 0 ? [] : finding(REPAIRED.doublePurchase, others));

  if (isRunning(purchase)) {
    const found = finding(classifyRunning(purchase, order, options));
    // One that goes on will have ended by another night. One that is held waits for a person, who must know.
    return purchase.state === 'HELD' ? [...found, ...doubles()] : found;
  }
  const isUnreadable = records.unreadableById.has(purchase.orderId ?? '');
  if (!order && !isUnreadable && mustBeInHistory(purchase, options)) {
    // What the partner shows under the reference instead is the same order with another id rather than a second one.
    return finding({ kind: 'MISSING_AT_PARTNER' }, others);
  }
  if (!order) return doubles();
  return [...finding(classifyEnded(purchase, order, options)), ...finding(classifyKeys(order)), ...doubles()];
}

function isOrphan(order: PartnerOrder, { owners, purchases }: RecordIndex, options: ReconcileOptions): boolean {
  const { id, referenceId, createdAt } = order;
  const isKnown = owners.has(id) || (referenceId !== undefined && purchases.has(referenceId));
  return !isKnown && createdAt >= options.from && isConfirmed(order, options);
}

function isConfirmed(order: PartnerOrder, { confirmedBefore }: ReconcileOptions): boolean {
  return order.createdAt < confirmedBefore;
}

/**
 * A finding for each record that can't be read: it says nothing about its purchase, and must not keep anybody from reading
 * the others. Of a row and its order, both unreadable, there is one.
 */
function unreadableFindings({ unreadable, unreadableById, purchases, owners }: RecordIndex): Finding[] {
  const nameless = unreadable.filter(({ id }) => id === undefined);
  const named = [...unreadableById.values()].flatMap((records) => records.at(-1) ?? []);
  return [...named, ...nameless].map((record) => {
    const referenceId = record.referenceId ?? (record.id && owners.get(record.id));
    return describeUnreadable({ ...record, referenceId }, purchases.get(referenceId ?? ''));
  });
}

/**
 * Finds keys that were delivered in more than one purchase. Purchases that share keys are one finding, however many keys
 * those are. Key ids of different secrets can't be compared, so the same key before and after a rotation is not found.
 */
function sameKeys(purchases: Iterable<KnownPurchase>): Finding[] {
  const groups = groupBy(purchasesByRepeatedKey(purchases), (sharing) =>
    JSON.stringify(sharing.map(({ referenceId }) => referenceId)),
  );
  return [...groups.values()].map((group) => describeSameKeys(group[0] ?? [], group.length));
}

/** Of each key id that several purchases have, these purchases. */
function purchasesByRepeatedKey(purchases: Iterable<KnownPurchase>): KnownPurchase[][] {
  const first = new Map<string, KnownPurchase>();
  // Almost every key id has one purchase, so lists are made only for the others.
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

/** By kind in the order of `FINDING_KINDS`, then by reference. */
export function inReportOrder<Some extends Finding>(findings: readonly Some[]): Some[] {
  return findings.toSorted(
    (a, b) =>
      FINDING_KINDS.indexOf(a.kind) - FINDING_KINDS.indexOf(b.kind) ||
      compare(a.referenceId ?? '', b.referenceId ?? '') ||
      compare(a.orderIds.join(), b.orderIds.join()),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
