import type { BrakeReason } from '../domain/brake';
import type { PurchaseOutcome } from '../domain/outcome';
import type { FindingKind } from '../domain/reconciliation/index';
import type { PlacementResult } from './activities';
import { HOLD_REASONS, type RunningState } from './purchase';

export interface DeclaredMetric {
  type: 'counter' | 'histogram' | 'gauge';
  unit?: 'seconds';
  /** Each label with all its values. */
  labels: Readonly<Record<string, readonly string[]>>;
  /** Of a histogram: the upper bounds of its buckets, in its unit. */
  buckets?: readonly number[];
  /** Recorded by purchases: the SDK adds the type of their workflow as a label. */
  byPurchases?: true;
  meaning: string;
}

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const LONG_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 14_400, 86_400];
const AMOUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];

const STATES = namesOf<RunningState>({ PLACING: 1, PAUSED: 1, UNCONFIRMED: 1, HELD: 1, PENDING: 1, DELIVERING: 1 });
/** Those, and `STARTED`: not yet taken by a worker, or not for long enough to have a state. */
const GAUGED_STATES = [...STATES, 'STARTED'] as const;
const OUTCOMES = namesOf<PurchaseOutcome>({
  DELIVERED: 1,
  PARTIALLY_DELIVERED: 1,
  REFUNDED: 1,
  FAILED: 1,
  REJECTED: 1,
  NOT_PLACED: 1,
  OVERDUE: 1,
  CANCELLED: 1,
  ABANDONED: 1,
});
const EVIDENCE = namesOf<PlacementResult['evidence'] | 'NEVER_WRITTEN'>({
  PLACED: 1,
  FOUND: 1,
  NOT_SENT: 1,
  ORDER_REFUSED: 1,
  ACCESS_REFUSED: 1,
  CONFLICT: 1,
  ANSWERED: 1,
  UNKNOWN: 1,
  NEVER_WRITTEN: 1,
  OVER_MAX_DEBIT: 1,
  PAUSED: 1,
});
/** What is settled: unknown placements and refused ones. */
const SETTLED_EVIDENCE = [
  'ORDER_REFUSED',
  'ACCESS_REFUSED',
  'CONFLICT',
  'ANSWERED',
  'UNKNOWN',
  'NEVER_WRITTEN',
] as const;
const BRAKE_REASONS = namesOf<BrakeReason>({
  UNKNOWN: 1,
  ACCESS_REFUSED: 1,
  NO_BALANCE: 1,
  UNREACHABLE: 1,
  REFUSED: 1,
});
const FINDINGS = namesOf<FindingKind>({
  DOUBLE_PURCHASE: 1,
  SAME_KEY_TWICE: 1,
  LOST: 1,
  LATE: 1,
  UNDELIVERED: 1,
  MISSING_AT_PARTNER: 1,
  UNREADABLE: 1,
  ORPHAN: 1,
  REFUNDED_AFTER_DELIVERY: 1,
  AMOUNT_MISMATCH: 1,
  STATUS_MISMATCH: 1,
  SHORTFALL_FILLED: 1,
  SHORTFALL_REFUNDED: 1,
  STUCK: 1,
});

/** Requests to the partner, by what they are for. */
const PERMIT_CLASSES = ['placement', 'delivery', 'confirmation', 'poll', 'reconciliation'] as const;
const OPERATIONS = ['listProducts', 'listOrders', 'placeOrder', 'getOrder'] as const;
/** How an answer of the partner is counted: `ok`, the class of an error status, or the kind of the error. */
const ANSWERS = [
  ...(['ok', '3xx', '4xx', '429', '5xx', 'access', 'not-found', 'refused', 'unreadable', 'incomplete'] as const),
  ...(['unreachable', 'timeout', 'connection-lost', 'too-late', 'withdrawn', 'closed', 'invalid-argument'] as const),
] as const;

/**
 * Every metric of ours, with its labels and all the values that they can have: none is made of a reference, a key or a text of the
 * partner. Prometheus shows a counter with `_total` behind its name, and a histogram in seconds with `_seconds`. docs/metrics.md and the
 * buckets of the worker's exporter are made from this table.
 */
export const METRICS = {
  fulfilment_purchases_ended: {
    type: 'counter',
    labels: { outcome: OUTCOMES },
    byPurchases: true,
    meaning: 'Purchases that have ended, by outcome',
  },
  fulfilment_purchase_duration: {
    type: 'histogram',
    unit: 'seconds',
    labels: { outcome: OUTCOMES },
    buckets: LONG_SECONDS,
    byPurchases: true,
    meaning: 'From the start of a purchase until the checkout has its outcome, and the keys if there are any',
  },
  fulfilment_purchase_debit: {
    type: 'histogram',
    labels: { outcome: OUTCOMES },
    buckets: AMOUNTS,
    byPurchases: true,
    meaning:
      'What the order of a purchase cost when the purchase ended; its sum is the money spent. A refund later is not taken off',
  },
  fulfilment_placements: {
    type: 'counter',
    labels: { evidence: EVIDENCE },
    byPurchases: true,
    meaning:
      'Attempts to place an order, by what their answer proves. The unknown ones: `CONFLICT`, `ANSWERED`, `UNKNOWN`',
  },
  fulfilment_placements_settled: {
    type: 'counter',
    labels: { evidence: SETTLED_EVIDENCE, history: ['found', 'absent', 'unreadable'] },
    byPurchases: true,
    meaning: 'Unknown or refused placements that the order history was searched for, by what it has shown in the end',
  },
  fulfilment_double_purchases: {
    type: 'counter',
    labels: {},
    byPurchases: true,
    meaning: 'Orders that the partner has beyond the one that was adopted for their reference',
  },
  fulfilment_holds: {
    type: 'counter',
    labels: { reason: HOLD_REASONS },
    byPurchases: true,
    meaning: 'Holds that were opened, by reason',
  },
  fulfilment_brake_changes: {
    type: 'counter',
    labels: { change: ['closed', 'opened'], reason: BRAKE_REASONS },
    meaning: 'How often the brake closed, so that new placements wait, and opened again',
  },
  fulfilment_polls: {
    type: 'counter',
    labels: { result: ['ended', 'open', 'failed'] },
    meaning: 'Polls of an order. With `fulfilment_purchases_ended_total`: the polls a purchase',
  },
  fulfilment_delivery_attempts: {
    type: 'counter',
    labels: { result: ['received', 'failed'] },
    meaning: 'Attempts to hand an event to the checkout',
  },
  fulfilment_partner_request_duration: {
    type: 'histogram',
    unit: 'seconds',
    labels: { operation: OPERATIONS, answer: ANSWERS },
    buckets: SECONDS,
    meaning: 'A request to the partner from its permit to the end of its answer, by operation and kind of answer',
  },
  fulfilment_partner_permit_wait: {
    type: 'histogram',
    unit: 'seconds',
    labels: { class: PERMIT_CLASSES },
    buckets: SECONDS,
    meaning: 'How long a request waited for its permit. Only with `PARTNER_MAX_RPS`',
  },
  fulfilment_partner_permits_missed: {
    type: 'counter',
    labels: { class: PERMIT_CLASSES },
    meaning:
      'Requests that were not sent because no permit came in time; they are tried again. Only with `PARTNER_MAX_RPS`',
  },
  fulfilment_partner_balance: {
    type: 'gauge',
    labels: {},
    meaning:
      "The balance at the partner as the last order showed it, in the account's currency; 0 where it is overdrawn",
  },
  fulfilment_partner_credit_limit: { type: 'gauge', labels: {}, meaning: 'The credit limit, likewise' },
  fulfilment_partner_headroom: {
    type: 'gauge',
    labels: {},
    meaning: 'What can still be spent: balance plus credit limit; 0 where nothing is left',
  },
  fulfilment_running_purchases: {
    type: 'gauge',
    labels: { state: GAUGED_STATES },
    meaning: 'Purchases that run, by `PurchaseState`; `STARTED` are those that have none yet',
  },
  fulfilment_oldest_purchase_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { state: ['STARTED', 'PLACING', 'PAUSED', 'UNCONFIRMED', 'HELD', 'DELIVERING'] },
    meaning: 'How long ago the oldest purchase in the state began, to two in a hundred; 0 where there is none',
  },
  fulfilment_later_deliveries: {
    type: 'gauge',
    labels: {},
    meaning: 'Deliveries after the end of their purchase that run (`deliverWorkflow`)',
  },
  fulfilment_oldest_later_delivery_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning: 'How long ago the oldest of them began, likewise',
  },
  fulfilment_last_reconciliation_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'When the last reconciliation ended that was no dry run and, started by hand, looked back as far as the last of the others, as Unix time; ' +
      '0 where the namespace knows of none',
  },
  fulfilment_last_reconciliation_duration_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning: 'How long it took',
  },
  fulfilment_last_reconciliation_orders: {
    type: 'gauge',
    labels: {},
    meaning: 'How many orders of the partner it compared',
  },
  fulfilment_last_reconciliation_findings: {
    type: 'gauge',
    labels: { kind: FINDINGS },
    meaning: 'What it found, by kind, mended or not',
  },
  fulfilment_last_reconciliation_mended: {
    type: 'gauge',
    labels: {},
    meaning: 'How many of its findings it mended itself',
  },
  fulfilment_reading_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { source: ['purchases', 'reconciliation', 'balance'] },
    meaning:
      'When these gauges were last read, as Unix time: `fulfilment_running_…`, `…oldest…` and `…later…` (purchases), ' +
      '`fulfilment_last_reconciliation_…`, and what the partner shows of the account (balance). A reading that fails leaves it behind; before the first one it is when the worker began',
  },
} as const satisfies Readonly<Record<string, DeclaredMetric>>;

/** The name under which Prometheus shows a metric. */
export function shownName(name: string, { type, unit }: Pick<DeclaredMetric, 'type' | 'unit'>): string {
  if (type === 'counter') return `${name}_total`;
  return type === 'histogram' && unit ? `${name}_${unit}` : name;
}

/** All of a union, which the type checker holds to be all. */
function namesOf<T extends string>(all: Readonly<Record<T, 1>>): readonly T[] {
  return Object.keys(all) as T[];
}
