import type {
  PartnerOrder,
  Finding,
  FindingKind,
  ReconcileOptions,
  KnownPurchase,
} from '../../../../src/domain/reconciliation/index';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 15, 3);

/** A night in which nothing that began less than ten minutes ago counts. */
export const NIGHT: ReconcileOptions = {
  now: NOW,
  from: NOW - 72 * HOUR,
  settledBefore: NOW - HOUR / 6,
  stuckAfterMs: 24 * HOUR,
};

/** Epoch ms of so many hours before the reconciliation. */
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

/** The purchase that fits the order of the same name: delivered whole. */
export function purchase(name: string, changes: Partial<KnownPurchase> = {}): KnownPurchase {
  return {
    referenceId: `REF-${name}`,
    workflowId: `purchase-REF-${name}`,
    runId: `run-${name}`,
    state: 'DELIVERED',
    execution: 'COMPLETED',
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

/** What must be found. */
export interface Expected {
  kind: FindingKind;
  referenceId?: string;
  orderIds: string[];
}

export interface Planted {
  orders: PartnerOrder[];
  purchases: KnownPurchase[];
  expected: Expected[];
}

/** Makes the records of one situation, and what must be found in them. `n` makes its names unique. */
type Plant = (n: string) => {
  orders: PartnerOrder[];
  purchases: KnownPurchase[];
  finds: FindingKind[];
  ids?: string[];
};

export const PLANTS: Record<string, Plant> = {
  'overdue here, complete there': (n) => finds('LATE', [order(n)], [purchase(n, { state: 'OVERDUE', ...NOTHING })]),
  'overdue here, partly there': (n) =>
    finds('LATE', [order(n, { status: 'PARTIAL_COMPLETED' })], [purchase(n, { state: 'OVERDUE', ...NOTHING })]),
  'an order without a purchase': (n) => finds('ORPHAN', [order(n)], []),
  'a further order under one reference': (n) =>
    finds(
      'DOUBLE_PURCHASE',
      [order(n), order(`${n}b`, { referenceId: `REF-${n}`, createdAt: hoursAgo(29) })],
      [purchase(n)],
      [`ord-${n}`, `ord-${n}b`],
    ),
  'terminated here, complete there': (n) => finds('LOST', [order(n)], [purchase(n, stopped('TERMINATED'))]),
  'terminated before it knew its order': (n) =>
    finds('LOST', [order(n)], [purchase(n, { ...stopped('TERMINATED'), orderId: undefined, state: 'PLACING' })]),
  'terminated with two orders, of which the first was refused': (n) =>
    finds(
      'LOST',
      [
        order(`${n}b`, { referenceId: `REF-${n}`, status: 'FAILED', createdAt: hoursAgo(30) }),
        order(n, { createdAt: hoursAgo(29.95) }),
      ],
      [purchase(n, { ...stopped('TERMINATED'), orderId: undefined })],
    ),
  'failed here, still open there': (n) =>
    finds('LOST', [order(n, { status: 'PROCESSING' })], [purchase(n, stopped('FAILED'))]),
  'held here, found there': (n) => finds('LOST', [order(n)], [held(n)]),
  'bought here, unknown there': (n) => finds('MISSING_AT_PARTNER', [], [purchase(n)]),
  'its memo says nothing of what was delivered': (n) =>
    finds('UNREADABLE', [order(n, { status: 'FAILED' })], [purchase(n, { ...NOTHING, unreadable: 'expected hold' })]),
  'bought here, under another id there': (n) =>
    finds('MISSING_AT_PARTNER', [order(n, { id: `other-${n}` })], [purchase(n)], [`ord-${n}`, `other-${n}`]),
  'delivered here, failed there': (n) => finds('STATUS_MISMATCH', [order(n, { status: 'FAILED' })], [purchase(n)]),
  'overdue here, refunded there': (n) =>
    finds('STATUS_MISMATCH', [order(n, { status: 'REFUNDED' })], [purchase(n, { state: 'OVERDUE', ...NOTHING })]),
  'refused here, open there': (n) =>
    finds(
      'STATUS_MISMATCH',
      [order(n, { status: 'PENDING' })],
      [purchase(n, { state: 'REJECTED', orderId: undefined, ...NOTHING })],
    ),
  'delivered and then refunded': (n) =>
    finds('REFUNDED_AFTER_DELIVERY', [order(n, { status: 'REFUNDED' })], [purchase(n)]),
  'half delivered, complete by now': (n) => finds('SHORTFALL_FILLED', [order(n)], [purchase(n, half(n))]),
  'half delivered, refunded by now': (n) =>
    finds('SHORTFALL_REFUNDED', [order(n, { status: 'REFUNDED' })], [purchase(n, half(n))]),
  'half delivered, half of the money back': (n) =>
    finds('SHORTFALL_REFUNDED', [order(n, { status: 'PARTIAL_COMPLETED', amount: 6.17 })], [purchase(n, half(n))]),
  'abandoned here, complete there': (n) =>
    finds('UNDELIVERED', [order(n)], [purchase(n, { state: 'ABANDONED', ...NOTHING })]),
  'not placed here, complete there': (n) =>
    finds(
      'UNDELIVERED',
      [order(n)],
      [purchase(n, { state: 'NOT_PLACED', orderId: undefined, totalDebit: undefined, ...NOTHING })],
    ),
  'complete there, delivery refused by the checkout': (n) =>
    finds(
      'UNDELIVERED',
      [order(n)],
      [
        purchase(n, {
          ...running('HELD'),
          hold: { id: 'h', reason: 'DELIVERY_REFUSED', decisions: ['deliver', 'withhold'] },
        }),
      ],
    ),
  'half delivered, still a part': (n) =>
    finds('UNDELIVERED', [order(n, { status: 'PARTIAL_COMPLETED' })], [purchase(n, half(n))]),
  'a delivered key that is no longer in its order': (n) =>
    finds('KEYS_GONE', [order(n, { keysGone: 1 })], [purchase(n)]),
  'a debit that differs by a cent': (n) => finds('AMOUNT_MISMATCH', [order(n)], [purchase(n, { totalDebit: 12.35 })]),
  'a debit for an order that failed': (n) =>
    finds('AMOUNT_MISMATCH', [order(n, { status: 'FAILED' })], [purchase(n, { state: 'FAILED', ...NOTHING })]),
  'one key in two purchases': (n) =>
    finds(
      'SAME_KEY_TWICE',
      [order(n), order(`${n}b`)],
      [purchase(n), purchase(`${n}b`, { keyIds: { 'card-50': [`k.${n}-2`], other: [`k.${n}b-1`] } })],
      [`ord-${n}`, `ord-${n}b`],
    ),
  'running for two days': (n) =>
    finds(
      'STUCK',
      [order(n, { status: 'PENDING', createdAt: hoursAgo(48) })],
      [purchase(n, { ...running('PENDING'), startedAt: hoursAgo(48) })],
    ),
  'overdue and open for two days': (n) =>
    finds(
      'STUCK',
      [order(n, { status: 'PENDING', createdAt: hoursAgo(48) })],
      [purchase(n, { state: 'OVERDUE', startedAt: hoursAgo(48), ...NOTHING })],
    ),
};

/** Situations in which everything is as it should be, or must be left alone. */
export const WELL: Record<string, Plant> = {
  delivered: (n) => well([order(n)], [purchase(n)]),
  refunded: (n) =>
    well([order(n, { status: 'REFUNDED', amount: 0 })], [purchase(n, { state: 'REFUNDED', ...NOTHING })]),
  failed: (n) => well([order(n, { status: 'FAILED' })], [purchase(n, { state: 'FAILED', totalDebit: 0, ...NOTHING })]),
  'refused, and nothing there': (n) => well([], [purchase(n, { state: 'REJECTED', orderId: undefined, ...NOTHING })]),
  'a second order that was refused and cost nothing': (n) =>
    well([order(n), order(`${n}b`, { referenceId: `REF-${n}`, status: 'FAILED' })], [purchase(n)]),
  'several products, of which the history shows the first': (n) =>
    well([order(n, { quantity: 1, amount: 6.17 })], [purchase(n)]),
  'an order that an operator named, under another reference': (n) =>
    well([order(n, { referenceId: `manual-${n}` })], [purchase(n)]),
  'an order without a reference that a purchase names': (n) =>
    well([order(n, { referenceId: undefined })], [purchase(n)]),
  'running, with its order': (n) =>
    well([order(n, { status: 'PROCESSING' })], [purchase(n, { ...running('PROCESSING'), startedAt: hoursAgo(5) })]),
  'running, with two orders that it will report itself': (n) =>
    well(
      [order(n), order(`${n}b`, { referenceId: `REF-${n}` })],
      [purchase(n, { ...running('PENDING'), startedAt: hoursAgo(5) })],
    ),
  'ended while the records were read, which showed an older status': (n) =>
    well([order(n, { status: 'REFUNDED' })], [purchase(n, { startedAt: hoursAgo(5), closedAt: NOW + HOUR })]),
  'overdue, still open': (n) =>
    well(
      [order(n, { status: 'PENDING', createdAt: hoursAgo(5) })],
      [purchase(n, { state: 'OVERDUE', startedAt: hoursAgo(5), ...NOTHING })],
    ),
  'overdue, delivered since': (n) => well([order(n)], [purchase(n, { state: 'OVERDUE', totalDebit: 0 })]),
  'terminated, delivered since': (n) => well([order(n)], [purchase(n, { ...stopped('TERMINATED'), ...whole(n) })]),
  'terminated before anything was bought': (n) =>
    well([], [purchase(n, { ...stopped('TERMINATED'), orderId: undefined })]),
  'a reset, whose first run is terminated': (n) =>
    well(
      [order(n)],
      [
        purchase(n, { startedAt: hoursAgo(29), runId: 'second' }),
        purchase(n, { ...stopped('TERMINATED'), startedAt: hoursAgo(30), runId: 'first' }),
      ],
    ),
  'a reset whose runs began at the same instant, the second still running': (n) =>
    well(
      [order(n, { createdAt: hoursAgo(5) })],
      [
        purchase(n, { ...stopped('TERMINATED'), startedAt: hoursAgo(5), runId: 'first' }),
        purchase(n, { ...running('DELIVERING'), startedAt: hoursAgo(5), runId: 'a later one' }),
      ],
    ),
  'a reset whose runs began at the same instant, the second ended later': (n) =>
    well(
      [order(n)],
      [
        purchase(n, { ...stopped('TERMINATED'), closedAt: hoursAgo(29.95), runId: 'first' }),
        purchase(n, { runId: 'a later one' }),
      ],
    ),
  'closed after the history was read, which does not show its order yet': (n) =>
    well([], [purchase(n, { closedAt: hoursAgo(0.01) })]),
  'older than what was read': (n) => well([], [purchase(n, { startedAt: hoursAgo(80), closedAt: hoursAgo(79) })]),
  'an order that is too young': (n) => well([order(n, { createdAt: hoursAgo(0.1) })], []),
  'a purchase that is too young': (n) =>
    well([], [purchase(n, { startedAt: hoursAgo(0.1), closedAt: hoursAgo(0.05) })]),
  'closed after the history was read': (n) =>
    well([order(n, { status: 'PENDING' })], [purchase(n, { closedAt: hoursAgo(0.01) })]),
  'held for another reason, not for long': (n) =>
    well([], [purchase(n, { ...running('HELD'), startedAt: hoursAgo(2), orderId: undefined })]),
};

/** Plants each of `situations`, and goes on in turn until there are `size` orders or purchases, whichever is more. */
export function plant(situations: readonly Plant[], size: number): Planted {
  const planted: Planted = { orders: [], purchases: [], expected: [] };
  for (let i = 0; i < situations.length || Math.max(planted.orders.length, planted.purchases.length) < size; i++) {
    const name = String(i);
    const { orders, purchases, finds, ids = [`ord-${name}`] } = situations[i % situations.length]!(name);
    planted.orders.push(...orders);
    planted.purchases.push(...purchases);
    planted.expected.push(...finds.map((kind) => ({ kind, referenceId: `REF-${name}`, orderIds: ids })));
  }
  return planted;
}

export function inBrief({ kind, referenceId, orderIds }: Finding | Expected): string {
  return `${kind} ${referenceId ?? 'none'} ${orderIds.join(' ')}`;
}

/** @param ids of the orders that the finding names, where they are not just the first */
function finds(kind: FindingKind, orders: PartnerOrder[], purchases: KnownPurchase[], ids?: string[]) {
  return { orders, purchases, finds: [kind], ids };
}

function well(orders: PartnerOrder[], purchases: KnownPurchase[]) {
  return { orders, purchases, finds: [] };
}

function half(n: string) {
  return { state: 'PARTIALLY_DELIVERED', delivered: 1, keyIds: { 'card-50': [`k.${n}-1`] } };
}

function whole(n: string) {
  return { ordered: 2, delivered: 2, keyIds: { 'card-50': [`k.${n}-1`, `k.${n}-2`] } };
}

/** A purchase that did not end by itself has no closing memo. */
function stopped(execution: string) {
  return {
    execution,
    state: 'PENDING',
    totalDebit: undefined,
    ordered: undefined,
    delivered: undefined,
    keyIds: undefined,
  };
}

function running(state: string) {
  return { ...stopped('RUNNING'), state, closedAt: undefined };
}

function held(n: string) {
  const hold = { id: 'h', reason: 'PLACEMENT_UNKNOWN', decisions: ['order', 'replace', 'abandon'] };
  return purchase(n, { ...running('HELD'), orderId: undefined, hold });
}
