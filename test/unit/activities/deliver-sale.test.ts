import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createDeliveryActivities } from '../../../src/activities/deliver-sale';
import type { ActivityDependencies } from '../../../src/activities/dependencies';

it('the short deadline of a local delivery counts from the time it was due, even if the process starts it late', async () => {
  const deadlines: (number | undefined)[] = [];
  const deliver = async (_: unknown, withinMs?: number) => deadlines.push(withinMs) > 0;
  const deps = { eventSender: { deliver }, metrics: { count: () => {} }, now: () => 5_400 };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  for (const isLocal of [true, false]) {
    const due = { isLocal, currentAttemptScheduledTimestampMs: 5_000 };
    const environment = new MockActivityEnvironment(due, { logger: new DefaultLogger('ERROR') });
    await environment.run(deliverSale, { type: 'purchase.rejected' as const, referenceId: 'SALE-1' });
  }
  expect(deadlines).toEqual([600, undefined]);
});
