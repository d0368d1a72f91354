import type { MetricMeter } from '@temporalio/common';
import { type DeclaredMetric, METRICS } from './metrics';
import { PURCHASE_WORKFLOW } from './names';

type Declared = typeof METRICS;
type MetricName = keyof Declared;
type NameOf<T extends DeclaredMetric['type']> = {
  [N in MetricName]: Declared[N]['type'] extends T ? N : never;
}[MetricName];
/** The labels of a metric, each with one of its values. */
type LabelsOf<N extends MetricName> = {
  [L in keyof Declared[N]['labels']]: Declared[N]['labels'][L] extends readonly (infer V extends string)[] ? V : never;
};

/** Records the declared metrics and no others. It never throws: an invalid value is left out. */
export interface Metrics {
  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void;
  record<N extends NameOf<'histogram'>>(name: N, value: number, labels: LabelsOf<N>): void;
  /** The exporter has no gauge below 0: it shows 0 then. */
  set<N extends NameOf<'gauge'>>(name: N, value: number, labels: LabelsOf<N>): void;
}

/** @param meter of the process, or of workflows, whose meter records nothing during a replay. */
export function metricsOf(meter: MetricMeter): Metrics {
  return {
    count(name, labels, by = 1) {
      meter.createCounter(name, undefined, METRICS[name].meaning).add(by, labels);
    },
    record(name, value, labels) {
      // The partner may write a negative amount. The SDK throws then, and the workflow task would fail for ever.
      if (!(value >= 0)) return;
      const { unit, meaning }: DeclaredMetric = METRICS[name];
      meter.createHistogram(name, 'float', unit, meaning).record(value, labels);
    },
    set(name, value, labels) {
      meter.createGauge(name, 'float', undefined, METRICS[name].meaning).set(Math.max(value, 0), labels);
    },
  };
}

/** Shows every counter as 0 under each value of its labels, so that the first count is an increase. */
export function countFromZero(meter: MetricMeter): void {
  for (const [name, { type, byPurchases, labels, meaning }] of Object.entries<DeclaredMetric>(METRICS)) {
    if (type !== 'counter') continue;
    const counter = meter.createCounter(name, undefined, meaning);
    const all = byPurchases ? { ...labels, workflowType: [PURCHASE_WORKFLOW] } : labels;
    for (const one of seriesOf(all)) counter.add(0, one);
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
