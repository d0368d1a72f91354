import type { MetricMeter } from '@temporalio/common';
import { HOLD_REASONS } from '../domain/holds';
import { PURCHASE_OUTCOMES, RUNNING_STATES } from '../domain/purchase-state';
import { FINDING_KIND_NAMES } from '../domain/reconciliation/finding';
import { PURCHASE_WORKFLOW } from './names';

/** All labels of a metric with all their values. */
type Labels = Readonly<Record<string, readonly string[]>>;

export interface DeclaredMetric {
  type: 'counter' | 'histogram' | 'gauge';
  unit?: 'seconds';
  labels: Labels;
  /** Only for histograms: the upper bounds, in the metric's unit. */
  buckets?: readonly number[];
  /** Only for counters: a workflow records it, so the SDK adds the label `workflowType`. */
  byPurchases?: true;
  meaning: string;
}

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const LONG_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 14_400, 86_400];
const AMOUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];

const OUTCOME = { outcome: PURCHASE_OUTCOMES };
/** `STARTED`: the purchase shows no state yet, because no worker has picked it up, or one has only just done so. */
const GAUGED_STATES = [...RUNNING_STATES, 'STARTED'] as const;
/** The evidence of attempts that ended without a known order. */
const EVIDENCE_WITHOUT_ORDER = [
  ...(['NOT_SENT', 'ORDER_REJECTED', 'ACCESS_DENIED', 'CONFLICT', 'ERROR_RESPONSE', 'UNKNOWN'] as const),
  ...(['NEVER_WRITTEN', 'OVER_MAX_DEBIT', 'PAUSED', 'FENCED'] as const),
] as const;
const EVIDENCE = ['PLACED', 'FOUND', ...EVIDENCE_WITHOUT_ORDER] as const;
const PERMIT_CLASS = { class: ['placement', 'delivery', 'confirmation', 'poll', 'reconciliation'] } as const;
const OPERATIONS = ['listProducts', 'listOrders', 'placeOrder', 'getOrder'] as const;
/** How a response is counted: `ok`, the class of an error status, or the kind of error. */
const RESPONSE_KINDS = [
  ...(['ok', '3xx', '4xx', '429', '5xx', 'access', 'not-found', 'unsuccessful', 'unreadable', 'incomplete'] as const),
  ...(['unreachable', 'timeout', 'connection-lost', 'too-late', 'aborted', 'closed', 'invalid-argument'] as const),
] as const;

/**
 * Every metric of this project, with all values of its labels: no label contains a reference, a key or the partner's
 * text. Prometheus adds `_total` to the name of a counter and `_seconds` to a histogram in seconds.
 * docs/reference/metrics.md is generated from this table.
 */
export const METRICS = {
  fulfilment_purchases_ended: ofPurchases('Purchases that have ended, by outcome', OUTCOME),
  fulfilment_purchase_duration: durations(
    'From the start of a purchase until the checkout received its outcome and keys',
    OUTCOME,
    LONG_SECONDS,
  ),
  fulfilment_purchase_debit: histogram(
    'The cost of an order when its purchase ended. The sum is the amount spent; later refunds are not subtracted',
    OUTCOME,
    AMOUNTS,
  ),
  fulfilment_placements: ofPurchases(
    'Attempts to place an order, by what each one proves. The outcome is unknown after `CONFLICT`, `ERROR_RESPONSE` and `UNKNOWN`',
    { evidence: EVIDENCE },
  ),
  fulfilment_placements_confirmed: ofPurchases(
    'Searches of the order history after a placement that was unknown or rejected, by evidence and result',
    { evidence: EVIDENCE_WITHOUT_ORDER, history: ['found', 'absent', 'unreadable'] },
  ),
  fulfilment_double_purchases: ofPurchases('Extra orders at the partner for a reference whose order was adopted', {}),
  fulfilment_holds: ofPurchases('Holds that were opened, by reason', { reason: HOLD_REASONS }),
  fulfilment_circuit_breaker_open: gauge(
    '1 while the circuit breaker of this process is open: the partner accepts no orders, and new placements are paused',
  ),
  fulfilment_polls: counter('Polls of an order. Divide by `fulfilment_purchases_ended_total` for polls per purchase', {
    result: ['ended', 'open', 'failed'],
  }),
  fulfilment_delivery_attempts: counter('Attempts to deliver an event to the checkout', {
    result: ['received', 'failed'],
  }),
  fulfilment_partner_request_duration: durations(
    'Requests to the partner, from the permit to the end of the response, by operation and kind of response',
    { operation: OPERATIONS, response: RESPONSE_KINDS },
    SECONDS,
  ),
  fulfilment_partner_permit_wait: durations(
    'How long a request waited for its permit. Only with `PARTNER_MAX_RPS`',
    PERMIT_CLASS,
    SECONDS,
  ),
  fulfilment_partner_permits_missed: counter(
    'Requests not sent because no permit was free in time. They are retried. Only with `PARTNER_MAX_RPS`',
    PERMIT_CLASS,
  ),
  fulfilment_partner_balance: gauge(
    "The balance at the partner, from the last order that was read, in the account's currency; 0 if overdrawn",
  ),
  fulfilment_partner_credit_limit: gauge('The credit limit at the partner, from the same order'),
  fulfilment_partner_headroom: gauge('What can still be spent: balance plus credit limit; 0 if nothing is left'),
  fulfilment_running_purchases: gauge('Running purchases, by `PurchaseState`; `STARTED` if they have no state yet', {
    state: GAUGED_STATES,
  }),
  fulfilment_oldest_purchase_age_seconds: seconds(
    'The age of the oldest purchase in this state since its start, within 2%; 0 if there is none',
    { state: ['STARTED', 'PLACING', 'PAUSED', 'UNCONFIRMED', 'HELD', 'DELIVERING'] },
  ),
  fulfilment_late_deliveries: gauge('Running late deliveries (`deliverWorkflow`)'),
  fulfilment_oldest_late_delivery_age_seconds: seconds(
    'The age of the oldest late delivery since its start, within 2%; 0 if there is none',
  ),
  fulfilment_last_reconciliation_timestamp_seconds: seconds(
    'When the last reconciliation ended, as Unix time; 0 if there is none. Dry runs do not count. Neither do manual runs ' +
      'with a shorter lookback than the last scheduled run',
  ),
  fulfilment_last_reconciliation_duration_seconds: seconds('The duration of the last reconciliation'),
  fulfilment_last_reconciliation_orders: gauge('The number of orders that the last reconciliation compared'),
  fulfilment_last_reconciliation_findings: gauge(
    'The number of findings of the last reconciliation, by kind, repaired or not',
    {
      kind: FINDING_KIND_NAMES,
    },
  ),
  fulfilment_last_reconciliation_repaired: gauge('The number of findings that the last reconciliation repaired itself'),
  fulfilment_reading_timestamp_seconds: seconds(
    'When the gauges of a source were last read, as Unix time: `fulfilment_running_…`, `…oldest…` and `…late…` ' +
      '(purchases), `fulfilment_last_reconciliation_…` (reconciliation), and the account at the partner (balance). A failed ' +
      'reading leaves it unchanged. Before the first reading, it is the start time of the worker, and `balance` is absent',
    { source: ['purchases', 'reconciliation', 'balance'] },
  ),
} satisfies Readonly<Record<string, DeclaredMetric>>;

/** The name of a metric in Prometheus. */
export function shownName(name: string, { type, unit }: Pick<DeclaredMetric, 'type' | 'unit'>): string {
  if (type === 'counter') return `${name}_total`;
  return type === 'histogram' && unit ? `${name}_${unit}` : name;
}

function counter<const L extends Labels>(meaning: string, labels: L) {
  return { type: 'counter', meaning, labels } as const;
}

function ofPurchases<const L extends Labels>(meaning: string, labels: L) {
  return { type: 'counter', meaning, labels, byPurchases: true } as const;
}

function histogram<const L extends Labels>(meaning: string, labels: L, buckets: readonly number[]) {
  return { type: 'histogram', meaning, labels, buckets } as const;
}

function durations<const L extends Labels>(meaning: string, labels: L, buckets: readonly number[]) {
  return { ...histogram(meaning, labels, buckets), unit: 'seconds' } as const;
}

function gauge<const L extends Labels = Record<never, never>>(meaning: string, labels = {} as L) {
  return { type: 'gauge', meaning, labels } as const;
}

function seconds<const L extends Labels = Record<never, never>>(meaning: string, labels = {} as L) {
  return { ...gauge(meaning, labels), unit: 'seconds' } as const;
}

type Declared = typeof METRICS;
type MetricName = keyof Declared;
type NameOf<T extends DeclaredMetric['type']> = {
  [N in MetricName]: Declared[N]['type'] extends T ? N : never;
}[MetricName];
/** One value for each label of a metric. */
type LabelsOf<N extends MetricName> = {
  [L in keyof Declared[N]['labels']]: Declared[N]['labels'][L] extends readonly (infer V extends string)[] ? V : never;
};

/** Records declared metrics. It never throws; invalid values are dropped. */
export type Metrics = ReturnType<typeof metricsOf>;

/** @param meter the meter of the process, or that of workflows, which records nothing during a replay. */
export function metricsOf(meter: MetricMeter) {
  return {
    count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by = 1): void {
      meter.createCounter(name, undefined, METRICS[name].meaning).add(by, labels);
    },
    record<N extends NameOf<'histogram'>>(name: N, value: number, labels: LabelsOf<N>): void {
      // For a negative amount from the partner the SDK would throw, and the workflow task would fail forever.
      if (!(value >= 0)) return;
      const { unit, meaning }: DeclaredMetric = METRICS[name];
      meter.createHistogram(name, 'float', unit, meaning).record(value, labels);
    },
    /** The exporter can't show values below 0, so they become 0. */
    set<N extends NameOf<'gauge'>>(name: N, value: number, labels: LabelsOf<N>): void {
      meter.createGauge(name, 'float', undefined, METRICS[name].meaning).set(Math.max(value, 0), labels);
    },
  };
}

/** Exports every counter as 0 for each combination of labels, so that the first count shows as an increase. */
export function countFromZero(meter: MetricMeter): void {
  for (const [name, { type, byPurchases, labels, meaning }] of Object.entries<DeclaredMetric>(METRICS)) {
    if (type !== 'counter') continue;
    const exported = meter.createCounter(name, undefined, meaning);
    const all = byPurchases ? { ...labels, workflowType: [PURCHASE_WORKFLOW] } : labels;
    for (const one of seriesOf(all)) exported.add(0, one);
  }
}

/** The buckets of all histograms, for the SDK's exporter. */
export function histogramBuckets(): Record<string, number[]> {
  const declared = Object.entries<DeclaredMetric>(METRICS);
  return Object.fromEntries(declared.flatMap(([name, { buckets }]) => (buckets ? [[name, [...buckets]]] : [])));
}

function seriesOf(labels: DeclaredMetric['labels']): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (series, [label, values]) => series.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}
