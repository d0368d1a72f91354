import { metricMeter } from '@temporalio/activity';
import type { MetricCounter, MetricTags } from '@temporalio/common';

/** A counter of one kind of activity, created at its first use: outside of an activity there is no meter. */
export function counter(name: string): { add(tags: MetricTags): void } {
  let created: MetricCounter | undefined;
  return {
    add(tags) {
      created ??= metricMeter.createCounter(name);
      created.add(1, tags);
    },
  };
}
