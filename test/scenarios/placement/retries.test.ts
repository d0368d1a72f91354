import { defaultPayloadConverter } from '@temporalio/common';
import type { PlaceOrderInput } from '../../../src/contracts/activities';
import {
  type PurchaseFault,
  sharedEnvironment,
  startTestEnvironment,
  type TestEnvironment,
} from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { waitForOutcomeOrHold, runPurchase, searchesFor } from './run-purchase';

type Action = NonNullable<PurchaseFault['action']>;

const UNREADABLE: [string, Action][] = [
  ['401', { type: 'answer', status: 401 }],
  ['404, as a wrong prefix gives', { type: 'answer', status: 404 }],
  ['503', { type: 'answer', status: 503 }],
  ['a close', { type: 'close' }],
  ['a page of HTML', { type: 'body', text: '<h1>Login</h1>' }],
  ['success: false', { type: 'unsuccessful' }],
];
const ACCESS = [401, 403, 404, 405];
const AN_HOUR = { type: 'answer', status: 503, headers: { 'retry-after': '3600' } } as const;
const LONGER = { type: 'answer', status: 503, headers: { 'retry-after': '3' } } as const;

describe('an order that is proven unsent and tried again for a limited time', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { placeWithinMs: 3_000 } });
  const always = { times: 'always' } as const;

  it.concurrent.each(UNREADABLE)(
    'ends NOT_PLACED and sends nothing while the history returns %s',
    async (_, action) => {
      const purchase = await runPurchase(env, [{ operation: 'orders', ...always, action }]);
      expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0, orders: [] });
      expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.not_placed']);
    },
  );

  it.concurrent.each(ACCESS)('ends NOT_PLACED, not REJECTED, when every order returns %i', async (status) => {
    const purchase = await runPurchase(env, [{ operation: 'place', ...always, action: { type: 'answer', status } }]);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', orders: [] });
    expect(purchase.requests).toBeGreaterThanOrEqual(1);
  });

  it.concurrent("searches no sooner than the history's Retry-After, except once at the end of the time", async () => {
    const { referenceId, state } = await runPurchase(env, [{ operation: 'orders', ...always, action: AN_HOUR }]);
    expect([state, searchesFor(env, referenceId)]).toEqual(['NOT_PLACED', 2]);
  });

  it.concurrent('buys when the partner asked to wait an hour but is back before the time is over', async () => {
    const purchase = await runPurchase(env, [{ operation: 'orders', action: AN_HOUR }]);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1 });
  });

  it.concurrent('holds an unconfirmed order in time, however long the history asks to wait', async () => {
    const purchase = await runPurchase(env, [
      { operation: 'place', when: 'after', action: { type: 'reset' } },
      { operation: 'orders', nth: 2, ...always, action: AN_HOUR },
    ]);
    expect(purchase).toMatchObject({ state: 'HELD', requests: 1 });
  });

  it.concurrent.each<['always' | 1, string]>([
    [1, 'DELIVERED'],
    ['always', 'NOT_PLACED'],
  ])('tries an absent order once more after a Retry-After that outlasted the time (%s): %s', async (times, state) => {
    const purchase = await runPurchase(env, [{ operation: 'place', times, action: LONGER }]);
    expect(purchase).toMatchObject({ state, requests: 2 });
  });
});

describe('a Retry-After of the partner', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 200 } });
  const refused: Action = { type: 'answer', status: 401 };
  const later: Action = { type: 'answer', status: 429, headers: { 'retry-after': '7' } };

  it.concurrent.each([
    ['before', 2],
    ['after', 1],
  ] as const)('is waited for when it comes %s the order was bought', async (when, requests) => {
    const purchase = await runPurchase(env, [{ operation: 'place', when, action: later }]);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests, orders: [expect.anything()] });
    const steps = await stepsOf(env, purchase.referenceId);
    expect(steps.slice(0, 3)).toEqual(['placeOrder', 'timer 7 s', 'findOrders']);
  });

  it.concurrent("is waited for when a search returns it, even if it is longer than the window's delays", async () => {
    const { referenceId, state } = await runPurchase(env, [
      { operation: 'place', when: 'after', action: { type: 'answer', status: 503 } },
      { operation: 'orders', nth: 2, action: later },
    ]);
    expect(state).toBe('DELIVERED');
    const steps = await stepsOf(env, referenceId);
    expect(steps.slice(0, 4)).toEqual(['placeOrder', 'findOrders', 'timer 7 s', 'findOrders']);
  });

  it.concurrent(
    'is not held when the API key becomes invalid between search and order, but waits until it is valid again',
    async () => {
      const purchase = await runPurchase(env, [
        { operation: 'place', action: refused },
        { operation: 'orders', nth: 2, times: 12, action: refused },
      ]);
      expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2, orders: [expect.anything()] });
      expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.delivered']);
    },
  );
});

it('looks for near matches and rows without a reference once a request was sent, even if it was rejected', async () => {
  const env = await startTestEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 200 } });
  const { referenceId } = await runPurchase(env, [
    { operation: 'orders', action: { type: 'answer', status: 503 } },
    { operation: 'place', action: { type: 'answer', status: 401 } },
  ]);
  const inputs = await placementInputsOf(env, referenceId);
  expect(inputs.map(({ requestMayHaveBeenSent }) => requestMayHaveBeenSent)).toEqual([false, false, true]);
});

it('places each order once when a rotated key is valid again, and loses no purchase made before', async () => {
  const env = await startTestEnvironment({ pastOrders: 5 });
  env.sandbox.settings({ apiKeys: ['rotated'] });
  const references = await env.buyMany(3);
  await waitUntil('each has searched', () => references.every((reference) => searchesFor(env, reference) > 0));
  env.sandbox.settings({ apiKeys: ['sandbox-key'] });

  for (const referenceId of references) {
    expect(await waitForOutcomeOrHold(env, referenceId)).toMatchObject({ state: 'DELIVERED', requests: 1 });
  }
});

async function placementInputsOf(env: TestEnvironment, referenceId: string): Promise<PlaceOrderInput[]> {
  const { events } = await env.handleOf(referenceId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'placeOrder'
      ? [defaultPayloadConverter.fromPayload<PlaceOrderInput>(scheduled.input!.payloads![0]!)]
      : [],
  );
}

/** The activities and timers of a purchase, in the order in which its workflow started them. */
async function stepsOf(env: TestEnvironment, referenceId: string): Promise<string[]> {
  const { events } = await env.handleOf(referenceId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timer = event.timerStartedEventAttributes?.startToFireTimeout;
    if (timer) return [`timer ${Number(timer.seconds ?? 0)} s`];
    return event.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
}
