import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createDeliveryActivities } from '../../../src/activities/deliver-sale';
import type { ActivityDependencies } from '../../../src/activities/dependencies';

it('an event after the end of a purchase is not sent once the purchase has run again', async () => {
  const sent: unknown[] = [];
  const deliver = async (event: unknown) => sent.push(event) > 0;
  const purchases = { describeIfKnown: async () => ({ runId: 'second' }) };
  const deps = { eventSender: { deliver }, metrics: { count: () => {} }, now: Date.now, purchases };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  for (const [afterRunId, kind] of [
    ['first', 'CHANGED'],
    ['second', 'RECEIVED'],
  ]) {
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    const event = { type: 'purchase.refunded' as const, referenceId: 'SALE-1', afterRunId };
    expect(await environment.run(deliverSale, event)).toMatchObject({ kind });
  }
  expect(sent).toHaveLength(1);
});

it('whether it has run again is read after the keys, which may take long', async () => {
  const read: string[] = [];
  const withPermits = async () => {
    read.push('keys');
    throw new Error('unreadable');
  };
  const describeIfKnown = async () => void read.push('purchase');
  const deps = { partner: { withPermits }, purchases: { describeIfKnown }, now: Date.now };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  const lines = [{ productId: 'p', quantity: 1, keyIds: ['secret.1'] }];
  const event = { type: 'purchase.late_delivery' as const, referenceId: 'SALE-1', orderId: 'o-1', lines };
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  await expect(environment.run(deliverSale, { ...event, afterRunId: 'first' })).rejects.toThrow();
  expect(read).toEqual(['keys']);
});

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

it('a local or repeated attempt that finds a change does not know whether an attempt before it sent the event', async () => {
  const purchases = { describeIfKnown: async () => ({ runId: 'second' }) };
  const { deliverSale } = createDeliveryActivities({ purchases, now: Date.now } as unknown as ActivityDependencies);
  const event = { type: 'purchase.refunded' as const, referenceId: 'SALE-1', afterRunId: 'first' };
  for (const [attempt, eventMayHaveArrived] of [
    [{ isLocal: true }, true],
    [{ attempt: 2 }, true],
    [{}, false],
  ] as const) {
    const environment = new MockActivityEnvironment(attempt, { logger: new DefaultLogger('ERROR') });
    expect(await environment.run(deliverSale, event)).toEqual({ kind: 'CHANGED', eventMayHaveArrived });
  }
});
