import { Runtime } from '@temporalio/worker';
import { countFromZero, type Metrics, metricsOf } from '../../contracts/record-metrics';

/**
 * Records metrics of the process, with the labels that the SDK gives to those of workflows. Only after `installRuntime`. All
 * counters are shown from now on.
 */
export function processMetrics(labels: { namespace: string; taskQueue: string }): Metrics {
  const meter = Runtime.instance().metricMeter.withTags(labels);
  countFromZero(meter);
  return metricsOf({
    createCounter: once((...args) => meter.createCounter(...args)),
    createHistogram: once((...args) => meter.createHistogram(...args)),
    createGauge: once((...args) => meter.createGauge(...args)),
  });
}

/** To create a metric is a call into the native library. */
function once<Args extends [name: string, ...unknown[]], T>(create: (...args: Args) => T): (...args: Args) => T {
  const created = new Map<string, T>();
  return (...args) => {
    const metric = created.get(args[0]) ?? create(...args);
    created.set(args[0], metric);
    return metric;
  };
}
