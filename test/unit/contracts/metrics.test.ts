import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { countFromZero, METRICS, metricsOf, shownName } from '../../../src/contracts/metrics';

/** A meter that keeps what is recorded, and throws below 0 as the SDK does. */
function notingMeter() {
  const noted: string[] = [];
  const note = (name: string, value: number, tags: object) => {
    if (value < 0) throw new Error(`${name} must be non-negative (got ${value})`);
    noted.push(`${name} ${JSON.stringify(tags)} ${value}`);
  };
  const meterWith = (own: object): MetricMeter => {
    const noting = (name: string) => (value: number, tags?: object) => note(name, value, { ...own, ...tags });
    return {
      createCounter: (name) => ({ ...noopMetricMeter.createCounter(name), add: noting(name) }),
      createHistogram: (name) => ({ ...noopMetricMeter.createHistogram(name), record: noting(name) }),
      createGauge: (name) => ({ ...noopMetricMeter.createGauge(name), set: noting(name) }),
      withTags: (tags) => meterWith({ ...own, ...tags }),
    };
  };
  return { noted, meter: meterWith({}) };
}

it('a negative amount from the partner is not recorded, because the SDK would throw and the workflow task would fail forever', () => {
  const { meter, noted } = notingMeter();
  const metrics = metricsOf(meter);
  metrics.record('fulfilment_purchase_debit', -4.99, { outcome: 'REFUNDED' });
  metrics.record('fulfilment_purchase_debit', Number.NaN, { outcome: 'REFUNDED' });
  metrics.record('fulfilment_purchase_debit', 4.99, { outcome: 'DELIVERED' });
  metrics.set('fulfilment_partner_balance', -3, {});
  expect(noted).toEqual(['fulfilment_purchase_debit {"outcome":"DELIVERED"} 4.99', 'fulfilment_partner_balance {} 0']);
});

it('every counter starts at 0 for each of its labels, so that the first double purchase is an increase and fires its alert', () => {
  const { meter, noted } = notingMeter();
  countFromZero(meter);
  expect(noted).toContain('fulfilment_double_purchases {"workflowType":"purchaseWorkflow"} 0');
  expect(noted).toContain('fulfilment_polls {"result":"failed"} 0');
  const { evidence, history } = METRICS.fulfilment_placements_confirmed.labels;
  const confirmed = noted.filter((line) => line.startsWith('fulfilment_placements_confirmed '));
  expect(confirmed).toHaveLength(evidence.length * history.length);
});

it('names, units and labels follow the Prometheus conventions, and are few enough to keep for a year', () => {
  for (const [name, metric] of Object.entries(METRICS)) {
    expect(shownName(name, metric)).toMatch(/^fulfilment_[a-z_]+$/);
    const series = Object.values<readonly string[]>(metric.labels).reduce((all, values) => all * values.length, 1);
    expect(series).toBeLessThanOrEqual(100);
  }
});
