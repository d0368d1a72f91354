import { purchaseMemo } from '../../../src/contracts/purchase';
import { keysOf } from '../../support/audit';
import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import {
  type PurchaseFault,
  sharedEnvironment,
  startTestEnvironment,
  type TestEnvironment,
} from '../../support/test-environment';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';
import { waitForOutcomeOrHold, INSTANT, runPurchase } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };

describe('a reference with no order, several orders or an order of another purchase', () => {
  const env = sharedEnvironment({ pastOrders: 5 });

  it('adopts the first of two orders for one reference, reports both, and delivers the keys of one only', async () => {
    const { orders, received, requests, status, events } = await runPurchase(env, [
      { ...LOST, commit: { type: 'copies', count: 2 } },
    ]);

    expect(orders).toHaveLength(2);
    expect(requests).toBe(1);
    const adopted = orders.find(({ id }) => id === status.result?.orderId);
    expect(received).toEqual(adopted && keysOf(adopted));
    expect(events.map(({ type }) => type).toSorted()).toEqual(['purchase.attention', 'purchase.delivered']);
    const orderIds = [adopted, ...orders.filter((order) => order !== adopted)].map((order) => order?.id);
    expect(events.find(({ type }) => type === 'purchase.attention')?.data).toMatchObject({
      orderId: adopted?.id,
      kind: 'DOUBLE_PURCHASE',
      details: { orderIds, explanation: 'The partner has 1 more billable order under this reference.' },
    });
  });

  it('does not deliver one order to two customers when the partner returns one id for two references', async () => {
    const first = await runPurchase(env);
    const second = await runPurchase(env, [
      { operation: 'place', commit: { type: 'same-order-as', referenceId: first.referenceId } },
    ]);

    expect(first.received).toHaveLength(2);
    expect(second).toMatchObject({ state: 'HELD', received: [], orders: [] });
    expect(second.status.hold).toMatchObject({ reason: 'ORDER_OF_ANOTHER_PURCHASE' });
    expect(second.status.hold?.explanation).toContain(first.referenceId);
  });

  it('ends FAILED when the only order under its reference has failed, and sends no other', async () => {
    const referenceId = env.reference();
    await env.orderByHand(INSTANT, referenceId);
    await env.changeOrder(referenceId, { status: 'FAILED' });

    const purchase = await runPurchase(env, [], INSTANT, referenceId);
    expect(purchase).toMatchObject({ state: 'FAILED', requests: 0, received: [] });
  });

  it('buys nothing twice when no response arrives and the partner books the order much later', async () => {
    const commit = { type: 'late', historyRequests: 1_000 } as const;
    const { referenceId } = await runPurchase(env, [{ ...LOST, when: 'before', commit }]);
    await bookLateOrders(env, referenceId, 1);

    const purchase = await waitForOutcomeOrHold(env, referenceId);
    expect(purchase).toMatchObject({ state: 'HELD', requests: 1, received: [] });
    expect(purchase.orders).toHaveLength(1);
  });

  it('delivers the keys of only one order when a replaced order is booked after all', async () => {
    const commit = { type: 'late', historyRequests: 1_000 } as const;
    const answered = { operation: 'place', action: { type: 'answer', status: 500 }, commit } as const;
    const { referenceId } = await runPurchase(env, [answered]);
    await bookLateOrders(env, referenceId, 2);

    const { orders, received, status, requests } = await waitForOutcomeOrHold(env, referenceId);
    expect(requests).toBe(2);
    const delivered = orders.filter(({ id }) => id === status.result?.orderId);
    expect(received).toEqual(keysOf(...delivered));
    expect(received).toHaveLength(2);
  });
});

it('with PURCHASE_REPLACE=always, places an absent order again even without a response, and never a second one', async () => {
  const settings = { replace: 'always', confirmWindowMs: 300 } as const;
  const env = await startTestEnvironment({ pastOrders: 5, settings });
  const broken: PurchaseFault['action'][] = [{ type: 'hang' }, { type: 'reset' }, { type: 'close' }];
  const run = (when: 'before' | 'after') =>
    Promise.all(broken.map((action) => runPurchase(env, [{ operation: 'place', when, action }])));

  for (const absent of await run('before'))
    expect(absent).toMatchObject({ state: 'DELIVERED', requests: 2, orderCount: 1 });
  for (const there of await run('after'))
    expect(there).toMatchObject({ state: 'DELIVERED', requests: 1, orderCount: 1 });
});

describe('a reference started again without RejectDuplicate while the history does not show its order', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 2_000 } });
  beforeEach(() => env.sandbox.settings({ historyLagRequests: 3, historyLagMs: 0 }));

  const start = (referenceId: string, workflowIdConflictPolicy?: 'TERMINATE_EXISTING') =>
    env.startRaw(referenceId, {
      args: [{ referenceId, items: [{ productId: 'demo-instant', quantity: 2 }] }],
      workflowIdConflictPolicy,
    });

  it('buys nothing after the first purchase has ended, and adopts its order', async () => {
    const referenceId = env.reference();
    await (await start(referenceId)).result();
    await start(referenceId);

    await expectDeliveredOnce(env, referenceId, 2);
    // Its order may be older than the second start.
    const searches = await operatorOf(env, referenceId).inputs('findOrders');
    expect(searches).not.toEqual([]);
    for (const search of searches) expect(search).toMatchObject({ mayHaveEarlierExecution: true });
  });

  it('names the keys that the first purchase delivered, if the order has been refunded since', async () => {
    const referenceId = env.reference();
    await (await start(referenceId)).result();
    const { received } = await env.audit(referenceId);
    await env.changeOrder(referenceId, { status: 'REFUNDED' });
    const result = await (await start(referenceId)).result();

    expect(result).toMatchObject({ outcome: 'REFUNDED', lines: [{ delivered: 2 }] });
    const notices = env.receiver.eventsOf(referenceId).filter(({ type }) => type === 'purchase.attention');
    expect(notices.map(({ data }) => data)).toMatchObject([{ kind: 'DELIVERED_KEYS_GONE', details: { count: 2 } }]);
    expect((await env.audit(referenceId)).received).toEqual(received);
  });

  it('buys nothing when it terminates the first purchase during its placement, and adopts its order', async () => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
    await start(referenceId);
    await env.untilSent(referenceId);
    await start(referenceId, 'TERMINATE_EXISTING');

    await expectDeliveredOnce(env, referenceId, 2);
  });

  it('knows what the first purchase told the checkout, even if an operator has it placed again', async () => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'answer', status: 422 } });
    expect(await (await start(referenceId)).result()).toMatchObject({ outcome: 'REJECTED' });
    await start(referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.held('PLACEMENT_UNKNOWN');
    await operator.resolve('replace');

    expect((await operator.held('ORDER_CHANGES')).explanation).toContain('may already have received purchase.rejected');
    await operator.resolve('deliver');
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    // What the operator accepted also holds after the end.
    expect((await env.starter.redeliver(referenceId)).events).toMatchObject([{ type: 'purchase.delivered' }]);
  });

  it('adopts the order that the first purchase recorded although the history does not show it', async () => {
    env.sandbox.settings({ historyLagMs: 600_000 });
    const referenceId = env.reference();
    await (await start(referenceId)).result();
    await start(referenceId);

    await expectDeliveredOnce(env, referenceId, 2);
  });

  it('is held while the order does not appear, and placed again only after an operator decides so', async () => {
    env.sandbox.settings({ historyLagMs: 600_000 });
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
    await start(referenceId);
    await env.untilSent(referenceId);
    await start(referenceId, 'TERMINATE_EXISTING');
    const operator = operatorOf(env, referenceId);

    expect((await operator.held('PLACEMENT_UNKNOWN')).explanation).toContain('another execution');
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
    await operator.resolve('replace');
    await operator.result();
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
  });
});

describe('on a server without lists', () => {
  const { env } = sharedTimeSkippingEnvironment({ pastOrders: 5, settings: { deadlineMs: 30_000 } });

  it('a purchase started by a foreign client is held instead of placed, because it may not be the first under its reference', async () => {
    const referenceId = env.reference();
    const args = [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] }];
    const handle = await env.startRaw(referenceId, { args });

    // Time is skipped to the end of its hold.
    await expect(handle.result()).rejects.toThrow('timed out');
    const { hold } = purchaseMemo.parse((await handle.describe()).memo);
    expect(hold?.explanation).toContain('Temporal could not list the runs');
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  });

  it('adopts an order that an earlier execution of the reference placed, and leaves its keys to a reconciliation', async () => {
    const referenceId = env.reference();
    const { id: orderId } = await env.sandbox.placeManualOrder({
      referenceId,
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    const args = [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] }];
    const result = await (await env.startRaw(referenceId, { args })).result();

    // What the earlier execution delivered can't be read, so a key might be delivered as new.
    expect(result).toMatchObject({ outcome: 'OVERDUE', orderId });
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  });
});

/** Requests the history until the late orders, which count those requests, are booked. */
async function bookLateOrders(env: TestEnvironment, referenceId: string, count: number): Promise<void> {
  await waitUntil(`${count} orders are there`, async () => {
    await Promise.all(Array.from({ length: 50 }, () => env.partner.listOrders({ limit: 1 })));
    return (await env.sandbox.ordersOf(referenceId)).length >= count;
  });
}
