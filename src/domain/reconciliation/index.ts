import { sumOfAmounts } from '../money';
import { presentableStatus } from '../order';
import {
  type PartnerOrder,
  type RecordIndex,
  type Finding,
  isBillable,
  isRunning,
  type ReconcileOptions,
  type KnownPurchase,
  indexRecords,
  ordersOf,
} from './records';
import { FINDING_KINDS, KIND_DOCS } from './finding-kinds';
import { sameKeys } from './same-keys';
import { KEYS_MISSING, type Classification, classifyEnded, classifyRunning } from './classify';
import { findingOf } from './describe-finding';

export type { PartnerOrder, Finding, ReconcileOptions, KnownPurchase } from './records';
export { FINDING_KINDS, type FindingKind, KIND_DOCS } from './finding-kinds';
export { findingKey } from './describe-finding';
export { type Calendar, type Totals, totalsOf } from './totals';

/**
 * Compares the partner's order history with the purchases here, both ways. Linear in both, apart from sorting what was found.
 *
 * A finding is what two lists suggest. Both may be behind: whoever mends one looks at the purchase and the order first.
 *
 * @param orders of the time since `from`, and those of older purchases that are followed up.
 * @param purchases those of the same time, those that the orders name, and those that are followed up.
 * @returns the findings, by kind in the order of `FINDING_KINDS`, then by reference. The same input gives the same list,
 *   whatever order it is in.
 */
export function reconcile(
  orders: readonly PartnerOrder[],
  purchases: readonly KnownPurchase[],
  options: ReconcileOptions,
): Finding[] {
  const books = indexRecords(orders, purchases);
  const settled = [...books.known.values()].filter((purchase) => purchase.startedAt < options.settledBefore);
  return inOrder([
    ...settled.flatMap((purchase) => findingsOf(purchase, books, options)),
    ...[...books.byId.values()].flatMap((order) => orphan(order, books, options)),
    ...sameKeys(settled),
  ]);
}

/** What remains of a filled shortfall when a look at the order shows no key that is new. */
export function withKeysMissing(finding: Finding): Finding {
  const { repair: _, ...rest } = finding;
  return { ...rest, kind: KEYS_MISSING.kind, advice: KEYS_MISSING.advice ?? finding.advice };
}

function findingsOf(purchase: KnownPurchase, books: RecordIndex, options: ReconcileOptions): Finding[] {
  const own = ordersOf(purchase, books);
  const others = own.others.filter((other) => isBillable(other) && isSettled(other, options));
  const order = own.order && isSettled(own.order, options) ? own.order : undefined;
  if (own.order && !order && !isRunning(purchase)) return [];

  const about = order ? booked(purchase, order) : debitOf(purchase);
  const finding = (classification: Classification | undefined) =>
    classification ? [findingOf(classification, purchase, { ...(order && { order }), amounts: about })] : [];

  if (isRunning(purchase)) {
    const found = finding(classifyRunning(purchase, order, options));
    return isWaitingForOrder(purchase) ? [...found, ...doubles(purchase, order, others)] : found;
  }
  if (!order && purchase.orderId !== undefined && isInWindow(purchase, options)) {
    // What the partner shows under the reference instead is the same order by another name rather than a second one.
    return [findingOf({ kind: 'MISSING_AT_PARTNER' }, purchase, { others, amounts: withSurplus(about, others) })];
  }
  return [...(order ? finding(classifyEnded(purchase, order, options)) : []), ...doubles(purchase, order, others)];
}

/** A running purchase tells of its double orders by itself, as it ends. One that is held without an order can't. */
function isWaitingForOrder(purchase: KnownPurchase): boolean {
  return purchase.state === 'HELD' && purchase.orderId === undefined;
}

function doubles(purchase: KnownPurchase, order: PartnerOrder | undefined, others: readonly PartnerOrder[]): Finding[] {
  const further = others.filter((other) => other !== order);
  if (further.length === 0) return [];
  const amounts = withSurplus(order ? booked(purchase, order) : debitOf(purchase), further);
  const classification: Classification = { kind: 'DOUBLE_PURCHASE', repair: 'notify-attention' };
  return [findingOf(classification, purchase, { ...(order && { order }), others: further, amounts })];
}

/** An order that nobody here placed. Those without a reference have nothing in common, so each stands for itself. */
function orphan(order: PartnerOrder, books: RecordIndex, options: ReconcileOptions): Finding[] {
  const { id, referenceId, createdAt, amount } = order;
  const isKnown = books.claimedBy.has(id) || (referenceId !== undefined && books.known.has(referenceId));
  if (isKnown || createdAt < options.from || !isSettled(order, options)) return [];
  const named = referenceId !== undefined && referenceId !== '';
  return [
    {
      kind: 'ORPHAN',
      ...(named && { referenceId }),
      orderIds: [id],
      amounts: amount === undefined ? {} : { history: amount },
      explanation: `${describe(order)} is ${presentableStatus(order.status)} at the partner${named ? '' : ', without a reference'}, and no purchase here asked for it.`,
      advice: KIND_DOCS.ORPHAN.advice,
    },
  ];
}

function describe({ quantity, title }: PartnerOrder): string {
  if (title === undefined || title === '') return 'An order';
  return `An order of ${quantity === undefined ? '' : `${quantity} × `}${title}`;
}

function isSettled(order: PartnerOrder, { settledBefore }: ReconcileOptions): boolean {
  return order.createdAt < settledBefore;
}

/** Whether the history that was read must show the order of this purchase. */
function isInWindow({ startedAt, closedAt }: KnownPurchase, { from, settledBefore }: ReconcileOptions): boolean {
  return startedAt >= from && (closedAt ?? startedAt) < settledBefore;
}

function debitOf({ totalDebit }: KnownPurchase): Record<string, number> {
  return totalDebit === undefined ? {} : { debited: totalDebit };
}

function booked(purchase: KnownPurchase, { amount }: PartnerOrder): Record<string, number> {
  return { ...debitOf(purchase), ...(amount !== undefined && { history: amount }) };
}

function withSurplus(amounts: Record<string, number>, others: readonly PartnerOrder[]): Record<string, number> {
  return others.length === 0 ? amounts : { ...amounts, surplus: sumOfAmounts(others.map((other) => other.amount)) };
}

function inOrder(findings: Finding[]): Finding[] {
  const rank = new Map(FINDING_KINDS.map((kind, index) => [kind, index]));
  const byRank = (a: Finding, b: Finding) => (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0);
  return findings.toSorted(
    (a, b) =>
      byRank(a, b) ||
      compare(a.referenceId ?? '', b.referenceId ?? '') ||
      compare(a.orderIds.join(), b.orderIds.join()),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
