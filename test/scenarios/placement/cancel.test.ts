import { operatorOf } from '../../support/operator';
import { type PurchaseFault, sharedEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { waitForOutcomeOrHold, INSTANT, type PurchaseRun, runPurchase, searchesFor } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };
const UNREADABLE: PurchaseFault = { operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } };

describe('a cancel ends a purchase only when nothing can have been bought', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 4_000 } });

  it('ends CANCELLED before anything is sent, and sends nothing afterwards', async () => {
    const referenceId = await env.buyFacing(UNREADABLE, INSTANT);
    await waitUntil('the history was searched', () => searchesFor(env, referenceId) > 0);

    const purchase = await cancelled(env, referenceId);
    expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 0, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
  });

  it.each<[string, PurchaseFault['action'], string, string]>([
    ['an error response, ends CANCELLED', { type: 'answer', status: 500 }, 'CANCELLED', 'purchase.cancelled'],
    ['a reset, stays held', { type: 'reset' }, 'HELD', 'purchase.held'],
  ])('confirms the unknown outcome after %s, and never places again', async (_, action, state, event) => {
    const referenceId = await env.buyFacing({ operation: 'place', action }, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');

    const purchase = await cancelled(env, referenceId);
    expect(purchase).toMatchObject({ state, requests: 1, orders: [] });
    await waitUntil('the checkout knows', () => env.receiver.eventsOf(referenceId).length > 0);
    expect(env.receiver.eventsOf(referenceId).map(({ type }) => type)).toEqual([event]);
  });

  it('searches once more before it ends, because a request that returned an error may still have placed an order late', async () => {
    const referenceId = await env.buyFacing({ operation: 'place', action: { type: 'answer', status: 500 } }, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await env.untilState(referenceId, 'PLACING');
    await env.orderByHand(INSTANT, referenceId);

    expectSeenThrough(await cancelled(env, referenceId));
  });

  it('delivers an order that the confirmation finds, despite the cancel', async () => {
    env.sandbox.settings({ historyLagRequests: 1_000 });
    const referenceId = await env.buyFacing(LOST, INSTANT);
    await env.untilState(referenceId, 'UNCONFIRMED');
    await operatorOf(env, referenceId).cancel();
    env.sandbox.settings({ historyLagRequests: 0 });

    expectSeenThrough(await waitForOutcomeOrHold(env, referenceId));
  });
});

describe('a cancel of a purchase held as PLACEMENT_UNKNOWN', () => {
  const env = sharedEnvironment({
    pastOrders: 5,
    settings: { confirmWindowMs: 200, placeWithinMs: 2_000 },
  });

  it('does not end it, because the order may still appear', async () => {
    const { referenceId, state } = await runPurchase(env, [{ ...LOST, when: 'before' }]);
    expect(state).toBe('HELD');
    const operator = operatorOf(env, referenceId);
    await operator.cancel();
    await operator.cancelRequested();
    await operator.idle();

    expect(await waitForOutcomeOrHold(env, referenceId)).toMatchObject({ state: 'HELD', requests: 1, received: [] });
  });
});

async function cancelled(env: TestEnvironment, referenceId: string): Promise<PurchaseRun> {
  await operatorOf(env, referenceId).cancel();
  return waitForOutcomeOrHold(env, referenceId);
}

function expectSeenThrough({ state, requests, status, issued, received }: PurchaseRun): void {
  expect({ state, requests }).toEqual({ state: 'DELIVERED', requests: 1 });
  expect(status.result).toMatchObject({ cancelRequested: true });
  expect(received).toEqual(issued);
  expect(received).toHaveLength(2);
}
