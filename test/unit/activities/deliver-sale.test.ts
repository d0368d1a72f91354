import { ActivityNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createDeliveryActivities } from '../../../src/activities/deliver-sale';
import type { ActivityDependencies } from '../../../src/activities/dependencies';

/** Of a server for which every attempt is current. */
const client = {
  withDeadline: async (_: number, call: () => unknown) => call(),
  activity: { heartbeat: async () => undefined },
};

it('an event after the end of a purchase is not sent once the purchase has run again', async () => {
  const sent: unknown[] = [];
  const deliver = async (event: unknown) => sent.push(event) > 0;
  const purchases = { describeIfKnown: async () => ({ runId: 'second' }) };
  const deps = { eventSender: { deliver }, metrics: { count: () => {} }, now: Date.now, purchases, client };
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

it('a local delivery has a short deadline from the time it was due, and an ordinary one ends before Temporal times it out', async () => {
  const deadlines: (number | undefined)[] = [];
  const deliver = async (_: unknown, withinMs?: number) => deadlines.push(withinMs) > 0;
  let time = 5_400;
  const slow = { ...client, activity: { heartbeat: async () => void (time += 3_000) } };
  const deps = { eventSender: { deliver }, metrics: { count: () => {} }, now: () => time, client: slow };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  for (const isLocal of [true, false]) {
    const due = { isLocal, currentAttemptScheduledTimestampMs: 5_000, startToCloseTimeoutMs: 10_000 };
    const environment = new MockActivityEnvironment(due, { logger: new DefaultLogger('ERROR') });
    await environment.run(deliverSale, { type: 'purchase.rejected' as const, referenceId: 'SALE-1', decidedAt: 5_000 });
  }
  expect(deadlines).toEqual([600, 7_000]);
});

it('a process that was frozen sends nothing in an old workflow task, or if its attempt no longer counts', async () => {
  const sent: unknown[] = [];
  const deliver = async (event: unknown) => sent.push(event) > 0;
  const heartbeat = async () => Promise.reject(new ActivityNotFoundError('gone'));
  const deps = { eventSender: { deliver }, now: () => 60_000, client: { ...client, activity: { heartbeat } } };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  const event = { type: 'purchase.delivered' as const, referenceId: 'SALE-1' };
  for (const [isLocal, decidedAt, type] of [
    [true, 51_000, 'NotLocally'],
    [false, 51_000, 'AttemptEnded'],
  ] as const) {
    const attempt = { isLocal, currentAttemptScheduledTimestampMs: 60_000, startToCloseTimeoutMs: 10_000 };
    const environment = new MockActivityEnvironment(attempt, { logger: new DefaultLogger('ERROR') });
    await expect(environment.run(deliverSale, { ...event, decidedAt })).rejects.toMatchObject({ type });
  }
  expect(sent).toEqual([]);
});

it('a process that was frozen while it asked whether the purchase has run again sends nothing', async () => {
  const sent: unknown[] = [];
  const deliver = async (event: unknown) => sent.push(event) > 0;
  let time = 60_000;
  const describeIfKnown = async () => {
    time += 6_000;
    return { runId: 'first' };
  };
  const deps = { eventSender: { deliver }, now: () => time, client, purchases: { describeIfKnown } };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const event = { type: 'purchase.late_delivery' as const, referenceId: 'SALE-1', afterRunId: 'first' };
  await expect(environment.run(deliverSale, event)).rejects.toMatchObject({ type: 'AttemptEnded' });
  expect(sent).toEqual([]);
});

it('a local or repeated attempt that finds a change does not know whether an attempt before it sent the event', async () => {
  const earlier = { isPurchase: true, memo: {}, unconfirmedEvents: ['purchase.failed'] };
  const purchases = {
    earlierRuns: async function* () {
      yield earlier;
    },
  };
  const deps = { purchases, now: Date.now };
  const { deliverSale } = createDeliveryActivities(deps as unknown as ActivityDependencies);
  const event = { type: 'purchase.refunded' as const, referenceId: 'SALE-1', firstRunId: 'first' };
  for (const [attempt, eventMayHaveArrived] of [
    [{ isLocal: true }, true],
    [{ attempt: 2 }, true],
    [{}, false],
  ] as const) {
    const environment = new MockActivityEnvironment(attempt, { logger: new DefaultLogger('ERROR') });
    expect(await environment.run(deliverSale, { ...event, decidedAt: Date.now() })).toEqual({
      kind: 'CHANGED',
      eventMayHaveArrived,
    });
  }
});
