import { operatorOf } from '../../support/operator';
import { sharedEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import {
  LENIENT,
  type PurchaseFault,
  purchaseOf,
  runPurchase,
  searchesFor,
  startPurchase,
  untilNotified,
} from './run-purchase';

const UNREADABLE: PurchaseFault = { operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } };

describe('a cancel ends a purchase only where surely nothing was bought', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { ...LENIENT, confirmWindowMs: 4_000 } });

  it('ends CANCELLED before anything was sent, and then nothing is', async () => {
    const referenceId = await startPurchase(env, [UNREADABLE]);
    await waitUntil('the history was searched', () => searchesFor(env, referenceId) > 0);
    await operatorOf(env, referenceId).cancel();
    await untilNotified(env, referenceId);

    const purchase = await purchaseOf(env, referenceId);
    expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 0, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
  });

  it('confirms an unknown outcome first, then ends without asking a person, and never places again', async () => {
    const unknown: PurchaseFault['action'][] = [{ type: 'answer', status: 500 }, { type: 'reset' }];
    const references = await Promise.all(unknown.map((action) => startPurchase(env, [{ operation: 'place', action }])));
    for (const reference of references) {
      await env.untilState(reference, 'UNCONFIRMED');
      await operatorOf(env, reference).cancel();
    }
    await Promise.all(references.map((reference) => untilNotified(env, reference)));

    for (const purchase of await Promise.all(references.map((reference) => purchaseOf(env, reference)))) {
      expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 1, orders: [] });
      expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
    }
  });

  it('searches once more before it ends, because a request that was answered with an error may have bought late', async () => {
    const referenceId = await startPurchase(env, [{ operation: 'place', action: { type: 'answer', status: 500 } }]);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await env.untilState(referenceId, 'PLACING');
    await env.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-instant', quantity: 2 }] });
    await operatorOf(env, referenceId).cancel();
    await untilNotified(env, referenceId);

    await expectSeenThrough(env, referenceId);
  });

  it('sees the order through when the confirmation finds one, cancel or not', async () => {
    env.sandbox.settings({ historyLagRequests: 1_000 });
    const referenceId = await startPurchase(env, [{ operation: 'place', when: 'after', action: { type: 'reset' } }]);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await operatorOf(env, referenceId).cancel();
    env.sandbox.settings({ historyLagRequests: 0 });
    await untilNotified(env, referenceId);

    await expectSeenThrough(env, referenceId);
  });
});

describe('a cancel of a purchase that is held because its placement is unknown', () => {
  const env = sharedEnvironment({
    pastOrders: 5,
    settings: { ...LENIENT, confirmWindowMs: 200, placeWithinMs: 2_000 },
  });

  it('searches once more, and sees through an order that came while it was held', async () => {
    const { referenceId } = await runPurchase(env, [{ operation: 'place', action: { type: 'reset' } }]);
    const order = await env.sandbox.placeManualOrder({
      referenceId,
      items: [{ id: 'demo-instant', quantity: 2 }],
    });
    await operatorOf(env, referenceId).cancel();

    expect(await env.starter.result(referenceId)).toMatchObject({
      outcome: 'DELIVERED',
      orderId: order.id,
      cancelRequested: true,
    });
  });

  it('does not end it when the history could not be read, because an order may well be there', async () => {
    const { referenceId, state } = await runPurchase(env, [
      { operation: 'place', when: 'after', action: { type: 'reset' } },
      { operation: 'orders', nth: 2, times: 'always', action: { type: 'answer', status: 503 } },
    ]);
    expect(state).toBe('HELD');
    const operator = operatorOf(env, referenceId);
    await operator.cancel();
    await operator.cancelRequested();
    await operator.idle();

    expect(await purchaseOf(env, referenceId)).toMatchObject({ state: 'HELD', requests: 1, received: [] });
  });
});

async function expectSeenThrough(env: TestEnvironment, referenceId: string): Promise<void> {
  const purchase = await purchaseOf(env, referenceId);
  expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1, status: { result: { cancelRequested: true } } });
  expect(purchase.received).toEqual(purchase.issued);
  expect(purchase.received).toHaveLength(2);
}
