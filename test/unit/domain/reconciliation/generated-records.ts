import type { Finding } from '../../../../src/domain/reconciliation/finding';
import type { PartnerOrder, ReconcileOptions, KnownPurchase } from '../../../../src/domain/reconciliation/records';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 15, 3);

/** A nightly run that ignores everything that began less than ten minutes ago. */
export const NIGHT: ReconcileOptions = {
  now: NOW,
  from: NOW - 72 * HOUR,
  recentSince: NOW - HOUR / 6,
};

/** Epoch ms, `hours` before the reconciliation. */
export function hoursAgo(hours: number): number {
  return NOW - hours * HOUR;
}

/** A completed order of two pieces for 12.34, under the reference `REF-name`. */
export function order(name: string, changes: Partial<PartnerOrder> = {}): PartnerOrder {
  return {
    id: `ord-${name}`,
    referenceId: `REF-${name}`,
    status: 'COMPLETED',
    createdAt: hoursAgo(30),
    amount: 12.34,
    title: 'Card 50',
    quantity: 2,
    ...changes,
  };
}

/** The purchase that matches the order of the same name and delivered all of it. */
export function purchase(name: string, changes: Partial<KnownPurchase> = {}): KnownPurchase {
  return {
    referenceId: `REF-${name}`,
    workflowId: `purchase-REF-${name}`,
    runId: `run-${name}`,
    state: 'DELIVERED',
    workflowStatus: 'COMPLETED',
    orderId: `ord-${name}`,
    startedAt: hoursAgo(30),
    closedAt: hoursAgo(29.9),
    totalDebit: 12.34,
    ordered: 2,
    delivered: 2,
    keyIds: { 'card-50': [`k.${name}-1`, `k.${name}-2`] },
    ...changes,
  };
}

const NOTHING = { delivered: 0, keyIds: {} };
const NO_ORDER = { orderId: undefined };
/** Terminated before it knew its order. */
const UNKNOWN = { ...stopped('TERMINATED'), ...NO_ORDER };
const HALF = { state: 'PARTIALLY_DELIVERED', delivered: 1 };

export interface Planted {
  orders: PartnerOrder[];
  purchases: KnownPurchase[];
  /** The findings to expect, as `summarize` writes them. */
  expected: string[];
}

/** Makes the records of one situation. `n` makes its names unique. */
type Plant = (n: string) => {
  orders: PartnerOrder[];
  purchases: KnownPurchase[];
  /** The expected kind of finding and its repair; '-' for none. */
  finds: string;
  /** The ids of the orders in the finding, if not just the first. */
  ids?: string[];
};

const MISMATCH = 'STATUS_MISMATCH';
const NOTIFIED = 'STATUS_MISMATCH notify';
const REFUND = 'STATUS_MISMATCH notify-refund';
const AFTER_ALL = 'UNDELIVERED notify';
const NOTHING_TO_DO = [AFTER_ALL, AFTER_ALL, '-', '-', NOTIFIED];
const FILLED = 'SHORTFALL_FILLED deliver';
/** A part was delivered, during the purchase or later. Each night looks for more of its keys. */
const SHORTFALL = [FILLED, 'SHORTFALL deliver', 'SHORTFALL_REFUNDED notify-refund', MISMATCH, MISMATCH];
const WHOLE = ['-', MISMATCH, 'REFUNDED_AFTER_DELIVERY notify-refund', MISMATCH, MISMATCH];
const STATUSES = ['COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED', 'PROCESSING'];

/** The expected finding and repair for each outcome of a purchase and each current status of its order. */
const ENDS: [end: string, Partial<KnownPurchase>, found: string[]][] = [
  ['DELIVERED', { state: 'DELIVERED' }, WHOLE],
  ['PARTIALLY_DELIVERED', HALF, SHORTFALL],
  ['PARTIALLY_DELIVERED, all of it by now', { state: 'PARTIALLY_DELIVERED', delivered: 2 }, WHOLE],
  ['PARTIALLY_DELIVERED of nothing', { state: 'PARTIALLY_DELIVERED', ...NOTHING }, SHORTFALL],
  ['OVERDUE', { state: 'OVERDUE', ...NOTHING }, ['LATE deliver', 'LATE deliver', REFUND, NOTIFIED, 'STUCK']],
  ['OVERDUE, a part by now', { state: 'OVERDUE', delivered: 1 }, SHORTFALL],
  ['OVERDUE, all of it by now', { state: 'OVERDUE', delivered: 2 }, WHOLE],
  ['terminated', { ...stopped('TERMINATED'), ...NOTHING }, ['LOST deliver', 'LOST deliver', REFUND, NOTIFIED, 'LOST']],
  ['terminated, a part by now', { ...stopped('TERMINATED'), ordered: 2, delivered: 1 }, SHORTFALL],
  ['REFUNDED', { state: 'REFUNDED', ...NOTHING }, [NOTIFIED, NOTIFIED, '-', MISMATCH, MISMATCH]],
  ['FAILED', { state: 'FAILED', ...NOTHING }, [NOTIFIED, NOTIFIED, MISMATCH, '-', MISMATCH]],
  ['REJECTED', { state: 'REJECTED', ...NOTHING }, NOTHING_TO_DO],
  ['NOT_PLACED', { state: 'NOT_PLACED', ...NOTHING }, NOTHING_TO_DO],
  ['CANCELLED', { state: 'CANCELLED', ...NOTHING }, NOTHING_TO_DO],
  ['ABANDONED', { state: 'ABANDONED', ...NOTHING }, ['UNDELIVERED', 'UNDELIVERED', '-', '-', 'STUCK']],
];

const AGAINST = ENDS.flatMap(([end, known, found]) =>
  STATUSES.map((status, at): [name: string, Plant, finds: string] => {
    const make = one(found[at]!, { status, amount: undefined }, { ...known, totalDebit: undefined });
    return [`${end} here, ${status} there`, make, found[at]!];
  }),
);

const TWO_DAYS = { status: 'PENDING', createdAt: hoursAgo(48) };
const HALF_PAID = { status: 'PARTIAL_COMPLETED', amount: 6.17 };
const DELIVERY_REFUSED = { id: 'h', reason: 'DELIVERY_REFUSED', decisions: ['deliver', 'withhold'] };
const UNPLACED = { id: 'h', reason: 'PLACEMENT_UNKNOWN', decisions: ['order', 'replace', 'abandon'] };

export const PLANTS: Record<string, Plant> = {
  ...Object.fromEntries(AGAINST.filter(([, , found]) => found !== '-')),
  'an order without a purchase': one('ORPHAN', {}, undefined),
  'a further order under one reference': (n) => ({
    orders: [order(n), furtherOrder(n, { createdAt: hoursAgo(29) })],
    purchases: [purchase(n)],
    finds: 'DOUBLE_PURCHASE notify',
    ids: [`ord-${n}`, `ord-${n}b`],
  }),
  'terminated before it knew its order': one('LOST deliver', {}, { ...UNKNOWN, state: 'PLACING' }),
  'terminated with two orders, the first of them refused': (n) => ({
    orders: [furtherOrder(n, { status: 'FAILED' }), order(n, { createdAt: hoursAgo(29.95) })],
    purchases: [purchase(n, UNKNOWN)],
    finds: 'LOST deliver',
  }),
  'held here, found there': one('LOST adopt', {}, { ...running('HELD'), ...NO_ORDER, hold: UNPLACED }),
  'bought here, unknown there': one('MISSING_AT_PARTNER', undefined, {}),
  'its memo cannot be read': one('UNREADABLE', { status: 'FAILED' }, { ...NOTHING, unreadable: 'expected hold' }),
  'bought here, under another id there': (n) => ({
    orders: [order(n, { id: `other-${n}` })],
    purchases: [purchase(n)],
    finds: 'MISSING_AT_PARTNER',
    ids: [`ord-${n}`, `other-${n}`],
  }),
  'half delivered, half of the money back': one('SHORTFALL_REFUNDED deliver-or-notify', HALF_PAID, HALF),
  'delivery refused by the checkout': one('UNDELIVERED', {}, { ...running('HELD'), hold: DELIVERY_REFUSED }),
  'a delivered key that is no longer in its order': one('KEYS_GONE notify', { goneKeyIds: ['k.1-1'] }, {}),
  'a debit that differs by a cent': one('AMOUNT_MISMATCH', {}, { totalDebit: 12.35 }),
  'a debit for an order that failed': one('AMOUNT_MISMATCH', { status: 'FAILED' }, { state: 'FAILED', ...NOTHING }),
  'one key in two purchases': (n) => ({
    orders: [order(n), order(`${n}b`)],
    purchases: [purchase(n), purchase(`${n}b`, { keyIds: { 'card-50': [`k.${n}-2`], other: [`k.${n}b-1`] } })],
    finds: 'SAME_KEY_TWICE',
    ids: [`ord-${n}`, `ord-${n}b`],
  }),
  'one key twice for one product': (n) => one('SAME_KEY_TWICE', {}, { keyIds: { p: [`k.${n}-1`, `k.${n}-1#2`] } })(n),
  'one key for two products of one sale': (n) =>
    one('SAME_KEY_TWICE', {}, { keyIds: { p: [`k.${n}-1`], q: [`k.${n}-1`] } })(n),
  'running for two days': one('STUCK', TWO_DAYS, { ...running('PENDING'), startedAt: hoursAgo(48) }),
  'overdue and open for two days': one('STUCK', TWO_DAYS, { state: 'OVERDUE', startedAt: hoursAgo(48), ...NOTHING }),
};

/** The runs of a reset. */
const runs = (shown: Partial<PartnerOrder>, first: Partial<KnownPurchase>, second: Partial<KnownPurchase>): Plant => {
  return (n) => ({
    orders: [order(n, shown)],
    purchases: [
      purchase(n, { runId: 'a later one', ...second }),
      purchase(n, { ...stopped('TERMINATED'), ...first, runId: 'first' }),
    ],
    finds: '-',
  });
};

const fits = (shown: Partial<PartnerOrder> | undefined, known: Partial<KnownPurchase> | undefined) =>
  one('-', shown, known);
const RECENT = { startedAt: hoursAgo(5) };
const OF_5_H_AGO = { createdAt: hoursAgo(5) };
const OPEN_FOR_5_H = { status: 'PENDING', ...OF_5_H_AGO };
const JUST_CLOSED = { closedAt: hoursAgo(0.01) };

/** Situations without a finding: everything is in order, or it is too early to tell. */
export const WELL: Record<string, Plant> = {
  ...Object.fromEntries(AGAINST.filter(([, , found]) => found === '-')),
  delivered: fits({}, {}),
  refunded: fits({ status: 'REFUNDED', amount: 0 }, { state: 'REFUNDED', ...NOTHING }),
  failed: fits({ status: 'FAILED' }, { state: 'FAILED', totalDebit: 0, ...NOTHING }),
  'refused, and nothing there': fits(undefined, { state: 'REJECTED', ...NO_ORDER, ...NOTHING }),
  'a second order that was refused and cost nothing': (n) => ({
    orders: [order(n), furtherOrder(n, { status: 'FAILED' })],
    purchases: [purchase(n)],
    finds: '-',
  }),
  'several products, but only the first in the history': fits({ quantity: 1, amount: 6.17 }, {}),
  'an order that an operator named, under another reference': fits({ referenceId: 'manual' }, {}),
  'an order without a reference that a purchase names': fits({ referenceId: undefined }, {}),
  'running, with its order': fits({ status: 'PROCESSING' }, { ...running('PROCESSING'), ...RECENT }),
  'running, with two orders that it will report itself': (n) => ({
    orders: [order(n), furtherOrder(n)],
    purchases: [purchase(n, { ...running('PENDING'), ...RECENT })],
    finds: '-',
  }),
  'ended while the records were read': fits({ status: 'REFUNDED' }, { ...RECENT, closedAt: NOW + HOUR }),
  'overdue, still open': fits(OPEN_FOR_5_H, { state: 'OVERDUE', ...RECENT, ...NOTHING }),
  'overdue, delivered since': fits({}, { state: 'OVERDUE', totalDebit: 0 }),
  'terminated, delivered since': fits({}, { ...stopped('TERMINATED'), ordered: 2, delivered: 2 }),
  'terminated before anything was bought': fits(undefined, UNKNOWN),
  'a reset, whose first run is terminated': runs({}, {}, { startedAt: hoursAgo(29) }),
  'runs of the same instant, the second still running': runs(OF_5_H_AGO, RECENT, {
    ...running('DELIVERING'),
    ...RECENT,
  }),
  'runs of the same instant, the second ended later': runs({}, { closedAt: hoursAgo(29.95) }, {}),
  'closed after the history was read, which does not show its order yet': fits(undefined, JUST_CLOSED),
  'closed after the history was read': fits({ status: 'PENDING' }, JUST_CLOSED),
  'older than what was read': fits(undefined, { startedAt: hoursAgo(80), closedAt: hoursAgo(79) }),
  'an order that is too young': fits({ createdAt: hoursAgo(0.1) }, undefined),
  'a purchase that is too young': fits(undefined, { startedAt: hoursAgo(0.1), closedAt: hoursAgo(0.05) }),
  'held for another reason, not for long': fits(undefined, { ...running('HELD'), ...NO_ORDER, ...RECENT }),
};

/** Plants each of `situations` in turn until there are `size` orders or `size` purchases. */
export function plant(situations: readonly Plant[], size: number): Planted {
  const planted: Planted = { orders: [], purchases: [], expected: [] };
  for (let i = 0; i < situations.length || Math.max(planted.orders.length, planted.purchases.length) < size; i++) {
    const name = String(i);
    const { orders, purchases, finds, ids = [`ord-${name}`] } = situations[i % situations.length]!(name);
    planted.orders.push(...orders);
    planted.purchases.push(...purchases);
    if (finds !== '-') planted.expected.push([finds, `REF-${name}`, ...ids].join(' '));
  }
  return planted;
}

/** Kind, repair, reference and orders. */
export function summarize({ kind, repair, referenceId = 'none', orderIds }: Finding): string {
  return [kind, repair ?? '', referenceId, ...orderIds].filter(Boolean).join(' ');
}

/**
 * A situation of one order and one purchase.
 *
 * @param finds the expected kind of finding and its repair; '-' for none
 * @param shown how the order differs from a delivered one; undefined if there is no order
 * @param known the same for the purchase
 */
function one(
  finds: string,
  shown: Partial<PartnerOrder> | undefined,
  known: Partial<KnownPurchase> | undefined,
): Plant {
  return (n) => ({
    orders: shown ? [order(n, shown)] : [],
    purchases: known ? [purchase(n, known)] : [],
    finds,
  });
}

/** A second order under the same reference. */
function furtherOrder(n: string, changes: Partial<PartnerOrder> = {}): PartnerOrder {
  return order(`${n}b`, { referenceId: `REF-${n}`, ...changes });
}

/** A purchase that did not end normally has no closing memo. */
function stopped(workflowStatus: string) {
  const memo = { totalDebit: undefined, ordered: undefined, delivered: undefined, keyIds: undefined };
  return { workflowStatus, state: 'PENDING', ...memo };
}

function running(state: string) {
  return { ...stopped('RUNNING'), state, closedAt: undefined };
}
