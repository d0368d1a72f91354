import { isBillable, presentableStatus } from '../order';
import { classifyEnded, classifyKeys, classifyRunning } from './classify';
import { describeFinding } from './describe-finding';
import type { Finding } from './finding';
import { FINDING_KINDS, KIND_DOCS } from './finding-kinds';
import {
  isRunning,
  type KnownPurchase,
  mustBeInHistory,
  ordersOf,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
} from './records';
import { type Classification, KEYS_MISSING, REPAIRED } from './repairs';
import { sameKeys } from './same-keys';
import { unreadableFindings, unreadablePurchase } from './unreadable';

/**
 * Compares the partner's orders with the purchases here, both ways. Linear in both, apart from sorting what was found.
 *
 * A finding is what two lists suggest, and both may lag: it is confirmed before anything is done about it.
 *
 * @param records the orders since `from`, and those of older purchases that are followed; the purchases of the same time,
 *   those that the orders name, and those that are followed.
 * @returns the findings, by kind in the order of `FINDING_KINDS`, then by reference. The same records give the same list,
 *   whatever order they are in.
 */
export function reconcile(records: RecordIndex, options: ReconcileOptions): Finding[] {
  const settled = [...records.purchases.values()].filter((purchase) => isForThisRun(purchase, options));
  const share = sharedTexts();
  const found: Finding[] = [];
  const add = (finding: Finding) => {
    finding.explanation = share(finding.explanation);
    found.push(finding);
  };
  for (const purchase of settled) findingsOf(purchase, records, options).forEach(add);
  for (const order of records.orders.values()) if (isOrphan(order, records, options)) add(orphan(order));
  return inReportOrder([...found, ...unreadableFindings(records), ...sameKeys(settled)]);
}

/** Tens of thousands of findings may have the same explanation. @returns the first string that is equal to the one given. */
function sharedTexts(): (text: string) => string {
  const texts = new Map<string, string>();
  return (text) => {
    const first = texts.get(text) ?? text;
    texts.set(first, first);
    return first;
  };
}

/** What remains of a finding when its order turns out to hold no new key, and not all that were ordered. */
export function withKeysMissing(finding: Finding): Finding {
  return { ...finding, ...KEYS_MISSING, repair: undefined };
}

/**
 * Both records are read at one instant as far as they can be: what began or ended while they were read, however long that took,
 * was seen by one of them only.
 */
function isForThisRun({ startedAt, closedAt }: KnownPurchase, { now, settledBefore }: ReconcileOptions): boolean {
  return startedAt < settledBefore && (closedAt ?? -Infinity) < now;
}

function findingsOf(purchase: KnownPurchase, records: RecordIndex, options: ReconcileOptions): Finding[] {
  if (purchase.unreadable !== undefined) return [unreadablePurchase(purchase)];
  const own = ordersOf(purchase, records);
  const others = own.others.filter((other) => isBillable(other) && isSettled(other, options));
  const order = own.order && isSettled(own.order, options) ? own.order : undefined;
  if (own.order && !order && !isRunning(purchase)) return [];

  const finding = (classification: Classification | undefined, further: PartnerOrder[] = []) =>
    classification ? [describeFinding(classification, purchase, { order, others: further })] : [];
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
  return !isKnown && createdAt >= options.from && isSettled(order, options);
}

/** Orders without a reference have nothing in common, so each is a finding of its own. */
function orphan({ id, referenceId, amount, status, quantity, title }: PartnerOrder): Finding {
  const named = referenceId !== undefined && referenceId !== '';
  const count = quantity === undefined ? '' : `${quantity} × `;
  const what = title === undefined || title === '' ? 'An order' : `An order of ${count}${title}`;
  const nameless = named ? '' : ', without a reference';
  return {
    kind: 'ORPHAN',
    referenceId: named ? referenceId : undefined,
    orderIds: [id],
    amounts: { history: amount },
    explanation: `${what} is ${presentableStatus(status)} at the partner${nameless}, and no purchase here asked for it.`,
    advice: KIND_DOCS.ORPHAN.advice,
  };
}

function isSettled(order: PartnerOrder, { settledBefore }: ReconcileOptions): boolean {
  return order.createdAt < settledBefore;
}

/** By kind in the order of `FINDING_KINDS`, then by reference. */
export function inReportOrder<Some extends Finding>(findings: readonly Some[]): Some[] {
  const rank = new Map(FINDING_KINDS.map((kind, index) => [kind, index]));
  return findings.toSorted(
    (a, b) =>
      (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0) ||
      compare(a.referenceId ?? '', b.referenceId ?? '') ||
      compare(a.orderIds.join(), b.orderIds.join()),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
