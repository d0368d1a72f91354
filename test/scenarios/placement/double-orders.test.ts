import { keysOf } from '../../support/audit';
import { sharedEnvironment, startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { INSTANT, LENIENT, type PurchaseFault, purchaseOf, runPurchase } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };

describe('orders that are not as one order for one reference should be', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: LENIENT });

  it('adopts the first of two orders for one reference, reports both, and delivers the keys of one only', async () => {
    const { orders, received, requests, status, events } = await runPurchase(env, [
      { ...LOST, commit: { type: 'copies', count: 2 } },
    ]);

    expect(orders).toHaveLength(2);
    expect(requests).toBe(1);
    const adopted = orders.find(({ id }) => id === status.result?.orderId);
    expect(received).toEqual(adopted && keysOf(adopted));
    expect(events.map(({ type }) => type).toSorted()).toEqual(['purchase.attention', 'purchase.delivered']);
    const alsoBought = orders.filter((order) => order !== adopted).map(({ id }) => id);
    expect(events.find(({ type }) => type === 'purchase.attention')?.data).toMatchObject({
      kind: 'DOUBLE_PURCHASE',
      details: { adopted: adopted?.id, alsoBought },
    });
  });

  it('does not deliver one order to two customers when the partner answers two references with one id', async () => {
    const first = await runPurchase(env);
    const second = await runPurchase(env, [
      { operation: 'place', commit: { type: 'same-order-as', referenceId: first.referenceId } },
    ]);

    expect(first.received).toHaveLength(2);
    expect(second).toMatchObject({ state: 'HELD', received: [], orders: [] });
    expect(second.status.hold).toMatchObject({ reason: 'ORDER_OF_ANOTHER_PURCHASE' });
    expect(second.status.hold?.explanation).toContain(first.referenceId);
  });

  it('ends as the partner says when the only order under the reference had failed, without sending another', async () => {
    const referenceId = env.reference();
    const order = await env.sandbox.placeManualOrder({
      referenceId,
      items: [{ id: 'demo-instant', quantity: 2 }],
    });
    await env.sandbox.changeOrder(order.id, { status: 'FAILED' });

    expect(await runPurchase(env, [], INSTANT, referenceId)).toMatchObject({
      state: 'FAILED',
      requests: 0,
      received: [],
    });
  });

  it('buys nothing twice when no answer came and the partner books the order long after', async () => {
    const commit = { type: 'late', historyRequests: 1_000 } as const;
    const { referenceId } = await runPurchase(env, [{ ...LOST, when: 'before', commit }]);
    await bookLateOrders(env, referenceId, 1);

    const purchase = await purchaseOf(env, referenceId);
    expect(purchase).toMatchObject({ state: 'HELD', requests: 1, received: [] });
    expect(purchase.orders).toHaveLength(1);
  });

  it('delivers the keys of one order only when an order that was replaced is booked after all', async () => {
    const commit = { type: 'late', historyRequests: 1_000 } as const;
    const { referenceId } = await runPurchase(env, [
      { operation: 'place', action: { type: 'answer', status: 500 }, commit },
    ]);
    await bookLateOrders(env, referenceId, 2);

    const { orders, received, status, requests } = await purchaseOf(env, referenceId);
    expect(requests).toBe(2);
    const delivered = orders.filter(({ id }) => id === status.result?.orderId);
    expect(received).toEqual(keysOf(...delivered));
    expect(received).toHaveLength(2);
  });
});

describe('what may be placed again is the user’s choice', () => {
  const before = (action: PurchaseFault['action']): PurchaseFault => ({ operation: 'place', action });
  const broken = [before({ type: 'hang' }), before({ type: 'reset' }), before({ type: 'close' })];

  it('always: after silence too, once the order is shown absent, and to one order only', async () => {
    const env = await startTestEnvironment({
      pastOrders: 5,
      settings: { ...LENIENT, replace: 'always', confirmWindowMs: 300 },
    });
    const absent = await Promise.all(broken.map((fault) => runPurchase(env, [fault])));
    const there = await Promise.all(broken.map((fault) => runPurchase(env, [{ ...fault, when: 'after' }])));

    for (const purchase of absent) expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    for (const purchase of there) expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1 });
    for (const { orders } of [...absent, ...there]) expect(orders).toHaveLength(1);
  });
});

/** Asks for the history until the orders that wait for its answers are there. */
async function bookLateOrders(env: TestEnvironment, referenceId: string, count: number): Promise<void> {
  await waitUntil(`${count} orders are there`, async () => {
    await Promise.all(Array.from({ length: 50 }, () => env.partner.listOrders({ limit: 1 })));
    return (await env.sandbox.ordersOf(referenceId)).length >= count;
  });
}
