import { operatorOf } from '../../support/operator';
import { type PurchaseFault, sharedEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { cameTo, INSTANT, LENIENT, type PurchaseRun, runPurchase, searchesFor } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };
const UNREADABLE: PurchaseFault = { operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } };

describe('a cancel ends a purchase only if nothing can have been bought', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { ...LENIENT, confirmWindowMs: 4_000 } });

  it('ends CANCELLED before anything was sent, and then nothing is', async () => {
    const referenceId = await env.buyFacing(UNREADABLE, INSTANT);
    await waitUntil('the history was searched', () => searchesFor(env, referenceId) > 0);

    const purchase = await cancelled(env, referenceId);
    expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 0, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
  });

  it.each<[string, PurchaseFault['action']]>([
    ['an error', { type: 'answer', status: 500 }],
    ['a reset', { type: 'reset' }],
  ])('confirms an outcome that %s left unknown, then ends and never places again', async (_, action) => {
    const referenceId = await env.buyFacing({ operation: 'place', action }, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');

    const purchase = await cancelled(env, referenceId);
    expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 1, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
  });

  it('searches once more before it ends, because a request that was answered with an error may have bought late', async () => {
    const referenceId = await env.buyFacing({ operation: 'place', action: { type: 'answer', status: 500 } }, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await env.untilState(referenceId, 'PLACING');
    await env.orderByHand(INSTANT, referenceId);

    expectSeenThrough(await cancelled(env, referenceId));
  });

  it('sees the order through when the confirmation finds one, cancel or not', async () => {
    env.sandbox.settings({ historyLagRequests: 1_000 });
    const referenceId = await env.buyFacing(LOST, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await operatorOf(env, referenceId).cancel();
    env.sandbox.settings({ historyLagRequests: 0 });

    expectSeenThrough(await cameTo(env, referenceId));
  });
});

describe('a cancel of a purchase that is held because its placement is unknown', () => {
  const env = sharedEnvironment({
    pastOrders: 5,
    settings: { ...LENIENT, confirmWindowMs: 200, placeWithinMs: 2_000 },
  });

  it('searches once more, and sees through an order that came while it was held', async () => {
    const { referenceId } = await runPurchase(env, [{ ...LOST, when: 'before' }]);
    await env.orderByHand(INSTANT, referenceId);
    await operatorOf(env, referenceId).cancel();
    await env.starter.result(referenceId);

    expectSeenThrough(await cameTo(env, referenceId));
  });

  it('does not end it when the history could not be read, because an order may well be there', async () => {
    const { referenceId, state } = await runPurchase(env, [LOST, { ...UNREADABLE, nth: 2 }]);
    expect(state).toBe('HELD');
    const operator = operatorOf(env, referenceId);
    await operator.cancel();
    await operator.cancelRequested();
    await operator.idle();

    expect(await cameTo(env, referenceId)).toMatchObject({ state: 'HELD', requests: 1, received: [] });
  });
});

async function cancelled(env: TestEnvironment, referenceId: string): Promise<PurchaseRun> {
  await operatorOf(env, referenceId).cancel();
  return cameTo(env, referenceId);
}

function expectSeenThrough({ state, requests, status, issued, received }: PurchaseRun): void {
  expect({ state, requests }).toEqual({ state: 'DELIVERED', requests: 1 });
  expect(status.result).toMatchObject({ cancelRequested: true });
  expect(received).toEqual(issued);
  expect(received).toHaveLength(2);
}
