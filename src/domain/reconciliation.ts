import { sumOfAmounts } from './money';
import { presentableStatus } from './order';
import {
  type BookedOrder,
  type Books,
  type Finding,
  isAlive,
  isRunning,
  type JoinOptions,
  type KnownPurchase,
  openBooks,
  ordersOf,
} from './reconciliation/books';
import { FINDING_KINDS, KIND_DOCS } from './reconciliation/kinds';
import { sameKeys } from './reconciliation/same-keys';
import { KEYS_MISSING, type Verdict, verdictOnEnded, verdictOnLive } from './reconciliation/verdict';
import { findingOf } from './reconciliation/words';

export type { BookedOrder, Finding, JoinOptions, KnownPurchase } from './reconciliation/books';
export { FINDING_KINDS, type FindingKind, KIND_DOCS } from './reconciliation/kinds';
export { findingKey } from './reconciliation/words';

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
export function joinBooks(
  orders: readonly BookedOrder[],
  purchases: readonly KnownPurchase[],
  options: JoinOptions,
): Finding[] {
  const books = openBooks(orders, purchases);
  const settled = [...books.known.values()].filter((purchase) => purchase.startedAt < options.settledBefore);
  return inOrder([
    ...settled.flatMap((purchase) => findingsOf(purchase, books, options)),
    ...[...books.byId.values()].flatMap((order) => orphan(order, books, options)),
    ...sameKeys(settled),
  ]);
}

/** What remains of a filled shortfall when a look at the order shows no key that is new. */
export function withKeysMissing(finding: Finding): Finding {
  const { mend: _, ...rest } = finding;
  return { ...rest, kind: KEYS_MISSING.kind, advice: KEYS_MISSING.advice ?? finding.advice };
}

function findingsOf(purchase: KnownPurchase, books: Books, options: JoinOptions): Finding[] {
  const own = ordersOf(purchase, books);
  const others = own.others.filter((other) => isAlive(other) && isSettled(other, options));
  const order = own.order && isSettled(own.order, options) ? own.order : undefined;
  if (own.order && !order && !isRunning(purchase)) return [];

  const about = order ? booked(purchase, order) : debitOf(purchase);
  const finding = (verdict: Verdict | undefined) =>
    verdict ? [findingOf(verdict, purchase, { ...(order && { order }), amounts: about })] : [];

  if (isRunning(purchase)) {
    const found = finding(verdictOnLive(purchase, order, options));
    return isWaitingForOrder(purchase) ? [...found, ...doubles(purchase, order, others)] : found;
  }
  if (!order && purchase.orderId !== undefined && isInWindow(purchase, options)) {
    // What the partner shows under the reference instead is the same order by another name rather than a second one.
    return [findingOf({ kind: 'MISSING_AT_PARTNER' }, purchase, { others, amounts: withSurplus(about, others) })];
  }
  return [...(order ? finding(verdictOnEnded(purchase, order, options)) : []), ...doubles(purchase, order, others)];
}

/** A running purchase tells of its double orders by itself, as it ends. One that is held without an order can't. */
function isWaitingForOrder(purchase: KnownPurchase): boolean {
  return purchase.state === 'HELD' && purchase.orderId === undefined;
}

function doubles(purchase: KnownPurchase, order: BookedOrder | undefined, others: readonly BookedOrder[]): Finding[] {
  const further = others.filter((other) => other !== order);
  if (further.length === 0) return [];
  const amounts = withSurplus(order ? booked(purchase, order) : debitOf(purchase), further);
  const verdict: Verdict = { kind: 'DOUBLE_PURCHASE', mend: 'tell-attention' };
  return [findingOf(verdict, purchase, { ...(order && { order }), others: further, amounts })];
}

/** An order that nobody here placed. Those without a reference have nothing in common, so each stands for itself. */
function orphan(order: BookedOrder, books: Books, options: JoinOptions): Finding[] {
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

function describe({ quantity, title }: BookedOrder): string {
  if (title === undefined || title === '') return 'An order';
  return `An order of ${quantity === undefined ? '' : `${quantity} × `}${title}`;
}

function isSettled(order: BookedOrder, { settledBefore }: JoinOptions): boolean {
  return order.createdAt < settledBefore;
}

/** Whether the history that was read must show the order of this purchase. */
function isInWindow({ startedAt, closedAt }: KnownPurchase, { from, settledBefore }: JoinOptions): boolean {
  return startedAt >= from && (closedAt ?? startedAt) < settledBefore;
}

function debitOf({ totalDebit }: KnownPurchase): Record<string, number> {
  return totalDebit === undefined ? {} : { debited: totalDebit };
}

function booked(purchase: KnownPurchase, { amount }: BookedOrder): Record<string, number> {
  return { ...debitOf(purchase), ...(amount !== undefined && { history: amount }) };
}

function withSurplus(amounts: Record<string, number>, others: readonly BookedOrder[]): Record<string, number> {
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
