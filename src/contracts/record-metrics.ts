import type { MetricMeter } from '@temporalio/common';
import { type DeclaredMetric, METRICS } from './metrics';
import { PURCHASE_WORKFLOW } from './names';

type Declared = typeof METRICS;
export type MetricName = keyof Declared;
type NameOf<T extends DeclaredMetric['type']> = {
  [N in MetricName]: Declared[N]['type'] extends T ? N : never;
}[MetricName];
/** The labels of a metric, each with one of its values. */
export type LabelsOf<N extends MetricName> = {
  [L in keyof Declared[N]['labels']]: Declared[N]['labels'][L] extends readonly (infer V extends string)[] ? V : never;
};

/** Records what is declared here, and nothing else. It never throws: what can't be recorded is left out. */
export interface Metrics {
  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void;
  record<N extends NameOf<'histogram'>>(name: N, value: number, labels: LabelsOf<N>): void;
  /** The exporter has no gauge below 0, and shows 0 then. */
  set<N extends NameOf<'gauge'>>(name: N, value: number, labels: LabelsOf<N>): void;
}

type MetricFactory = Pick<MetricMeter, 'createCounter' | 'createHistogram' | 'createGauge'>;

/** @param meter of the process; or of workflows, where nothing is recorded while they are replayed. */
export function metricsOf(meter: MetricFactory): Metrics {
  return {
    count(name, labels, by = 1) {
      meter.createCounter(name, unitOf(name), METRICS[name].meaning).add(by, labels);
    },
    record(name, value, labels) {
      // An amount of the partner may be negative, for which the SDK throws: in a workflow that would fail its task for ever.
      if (!(value >= 0)) return;
      meter.createHistogram(name, 'float', unitOf(name), METRICS[name].meaning).record(value, labels);
    },
    set(name, value, labels) {
      meter.createGauge(name, 'float', undefined, METRICS[name].meaning).set(Math.max(value, 0), labels);
    },
  };
}

/** Counters that were never counted are shown as 0, so that the first count is an increase: one series for each value of a label. */
export function countFromZero(meter: MetricMeter): void {
  for (const [name, declared] of Object.entries<DeclaredMetric>(METRICS)) {
    if (declared.type !== 'counter') continue;
    const own = declared.byPurchases ? meter.withTags({ workflowType: PURCHASE_WORKFLOW }) : meter;
    const counter = own.createCounter(name, declared.unit, declared.meaning);
    for (const labels of seriesOf(declared.labels)) counter.add(0, labels);
  }
}

/** The buckets of all histograms, as the SDK's exporter takes them. */
export function histogramBuckets(): Record<string, number[]> {
  const declared = Object.entries<DeclaredMetric>(METRICS);
  return Object.fromEntries(declared.flatMap(([name, { buckets }]) => (buckets ? [[name, [...buckets]]] : [])));
}

function unitOf(name: MetricName): string | undefined {
  return (METRICS[name] as DeclaredMetric).unit;
}

function seriesOf(labels: DeclaredMetric['labels']): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (series, [label, values]) => series.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}
