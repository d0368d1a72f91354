import type { DecisionKind, HoldReason } from '../../../src/domain/holds';
import { expectDeliveredOnce, expectNoChangedEvents } from '../../support/checks';
import { type Checkout, HOLD_ARRANGEMENTS, scriptedCheckout } from '../../support/held-purchases';
import { type Operator, operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changeOrder } from '../../support/watched';

jest.setTimeout(180_000);

describe('a purchase that someone resets', () => {
  const env = sharedEnvironment({ sandbox: { perLookMs: 30_000 } });
  let checkout: Checkout;

  beforeAll(() => {
    checkout = scriptedCheckout(env);
    env.sandbox.addPastOrders({ count: 3 });
  });
  expectNoChangedEvents(env);

  it.concurrent.each([
    ['demo-instant', 2],
    ['demo-seconds', 1],
    ['demo-partial', 4],
    ['demo-refunded', 1],
  ] as const)(
    '%s × %i, reset to each of its points after its end, ends the same and buys and delivers nothing twice',
    async (product, quantity) => {
      const result = await env.bought({ [product]: quantity });
      await endsTheSameFromEachPoint(result.referenceId, (operator) => operator.result());
    },
  );

  it.concurrent.each([
    ['PLACEMENT_UNKNOWN', 'order'],
    ['PLACEMENT_UNKNOWN', 'replace'],
    ['OTHER_ITEMS', 'deliver'],
    ['MORE_KEYS_THAN_ORDERED', 'deliver'],
    ['ORDER_CHANGES', 'deliver'],
    ['DELIVERY_REFUSED', 'deliver'],
  ] as [HoldReason, DecisionKind][])(
    'held because %s and decided with %s, reset to each of its points, buys and delivers nothing twice',
    async (reason, decision) => {
      const { referenceId, rest, onResolve } = await HOLD_ARRANGEMENTS[reason]({
        env,
        checkout,
        referenceId: env.reference(),
      });
      const operator = operatorOf(env, referenceId);
      await operator.held(reason);
      await onResolve?.();
      await operator.resolve(decision, decision === 'order' ? rest : {});
      await operator.result();

      await endsTheSameFromEachPoint(referenceId, () => answerUntilTheEnd(referenceId, decision, rest));
    },
  );

  it.concurrent('rejected, and reset to before that, asks a person instead of the partner', async () => {
    const { referenceId } = await env.bought({ 'demo-out-of-stock': 1 });
    const operator = operatorOf(env, referenceId);

    await operator.reset((await operator.points())[0]!);

    await operator.held('PLACEMENT_UNKNOWN');
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
    await operator.resolve('abandon');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  // The placement is tried for 10 s; the pauses before its second and its third attempt are 2 s and 4 s.
  it.concurrent.each([
    ['too late to be tried again', { failures: 2, point: 3, cancel: false }],
    ['with a cancel request', { failures: 1, point: 1, cancel: true }],
  ])(
    'to where nothing had been sent, %s, finds the order that was placed since and never says that nothing was bought',
    async (_, { failures, point, cancel }) => {
      const referenceId = env.reference();
      const action = { type: 'answer', status: 503 } as const;
      env.sandbox.addFault({ operation: 'orders', referenceId, times: failures, action });
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.result();

      await operator.reset((await operator.points())[point]!);
      if (cancel) await operator.cancel();

      await deliveredOnce(referenceId, operator);
    },
  );

  it.concurrent(
    'to within a search for the order, waits for what the run before has sent since, and buys no second time',
    async () => {
      const referenceId = env.reference();
      const action = { type: 'answer', status: 500 } as const;
      env.sandbox.addFault({ operation: 'place', referenceId, action });
      env.sandbox.addFault({ operation: 'place', referenceId, action, commit: { type: 'late', ms: 7_000 } });
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await waitUntil('it is placed again', () => env.sandbox.placeRequestsOf(referenceId) === 2);

      // To the last search before the second placement: what those before it have shown is replayed.
      const { runId } = await env.starter.status(referenceId);
      const [, second] = await operator.scheduled('placeOrder', runId);
      const searches = await operator.scheduled('findOrders', runId);
      await operator.reset(
        searches.findLast((point) => Number(point) < Number(second))!,
        runId,
      );

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 2 });
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent(
    'to after the last search before its end, searches for a whole window of its own and finds what was booked since',
    async () => {
      const referenceId = env.reference();
      const action = { type: 'answer', status: 500 } as const;
      env.sandbox.addFault({ operation: 'place', referenceId, action, commit: { type: 'late', ms: 7_000 } });
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await waitUntil('it is placed', () => env.sandbox.placeRequestsOf(referenceId) === 1);
      await operator.cancel();
      expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED' });

      const lastSearch = (await operator.scheduled('findOrders')).at(-1);
      await operator.reset((await operator.points()).find((point) => Number(point) > Number(lastSearch))!);

      await deliveredOnce(referenceId, operator);
    },
  );

  it.concurrent('with a decision to place again behind it, never places on the ground of that decision', async () => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, times: 'always', action: { type: 'reset' } });
    await env.buy({ 'demo-instant': 1 }, referenceId);
    const operator = operatorOf(env, referenceId);
    const first = await operator.held('PLACEMENT_UNKNOWN');
    const [whileHeld] = (await operator.points()).slice(-1);
    await operator.resolve('replace');
    const second = await operator.held('PLACEMENT_UNKNOWN', first);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);

    // The server hands the decision on to the new run: to the very hold that it answered, and then to none.
    await operator.reset(whileHeld!);
    const third = await operator.held('PLACEMENT_UNKNOWN', first, second);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);

    await operator.reset((await operator.points())[0]!);
    await operator.held('PLACEMENT_UNKNOWN', first, second, third);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent(
    'to where a decision to place again was taken, never places again what the run before has placed',
    async () => {
      const referenceId = env.reference();
      env.sandbox.addFault({ operation: 'place', referenceId, times: 'always', action: { type: 'reset' } });
      await env.buy({ 'demo-instant': 1 }, referenceId);
      const operator = operatorOf(env, referenceId);
      const first = await operator.held('PLACEMENT_UNKNOWN');
      await operator.resolve('replace');
      const second = await operator.held('PLACEMENT_UNKNOWN', first);

      const { runId } = await env.starter.status(referenceId);
      const [, again] = await operator.scheduled('placeOrder', runId);
      await operator.reset(again!, runId);

      await operator.held('PLACEMENT_UNKNOWN', first, second);
      expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent('while its placement has no answer yet, finds the order that came of it', async () => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'delay', ms: 700 } });
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await waitUntil('the placement is on its way', () => env.sandbox.placeRequestsOf(referenceId) === 1);

    await operator.reset((await operator.points())[0]!);

    await deliveredOnce(referenceId, operator);
  });

  it.concurrent.each([
    ['its order is polled', 'demo-never', 'awaitOrderChange'],
    ['its keys are delivered', 'demo-instant', 'deliverSale'],
  ])('while %s, to each point that it has, goes on from there and delivers once', async (_, product, activity) => {
    const referenceId = env.reference();
    checkout.refuses(referenceId, 'purchase.delivered', 500);
    await env.buy({ [product]: 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending(activity, 2);
    const { runId } = await env.starter.status(referenceId);
    for (const point of await operator.points()) {
      await operator.reset(point, runId);
      await operator.pending(activity, 2);
    }
    checkout.takes(referenceId);
    await changeOrder(env, referenceId, { status: 'COMPLETED' });

    await deliveredOnce(referenceId, operator);
  });

  it.concurrent.each([
    ['taken', 204, ['purchase.partially_delivered', 'purchase.delivered']],
    ['refused so far', 503, ['purchase.delivered']],
  ] as const)(
    'to before its poll, with an event that was %s and an order that is fuller now, delivers the sale as it is now',
    async (_, answer, types) => {
      const referenceId = env.reference();
      if (answer !== 204) checkout.refuses(referenceId, 'purchase.partially_delivered', answer);
      await env.buy({ 'demo-never': 4 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('awaitOrderChange', 2);
      const [order] = await env.sandbox.ordersOf(referenceId);
      const keys = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await env.sandbox.changeOrder(order!.id, { status: 'PARTIAL_COMPLETED', keys: [keys.slice(0, 2)] });
      await (answer === 204 ? operator.result() : operator.pending('deliverSale', 2));

      await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED', keys: [keys] });
      const { runId } = await env.starter.status(referenceId);
      const [first] = await operator.points();
      for (const _again of [1, 2]) {
        await operator.reset(first!, runId);
        await operator.pending('awaitOrderChange').catch(() => undefined);
        checkout.takes(referenceId);
        expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 4 }] });
      }

      expect((await env.audit(referenceId)).received).toEqual(keys);
      expect(env.eventTypes(referenceId)).toEqual(types);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  /** `finish` brings the new run to its end. The orders at the partner and the keys at the checkout stay as they are. */
  async function endsTheSameFromEachPoint(referenceId: string, finish: (operator: Operator) => Promise<unknown>) {
    const operator = operatorOf(env, referenceId);
    const result = await operator.result();
    const { runId } = await env.starter.status(referenceId);
    const { orderCount, requests, issued, received } = await env.audit(referenceId);
    const points = await operator.points();
    expect(points.length).toBeGreaterThan(2);

    for (const point of points) {
      await operator.reset(point, runId);
      await finish(operator);
      expect(await operator.result()).toMatchObject({ outcome: result.outcome, orderId: result.orderId });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount, requests, issued, received });
      expect(await operator.brokenTasks()).toEqual([]);
    }
  }

  /** Decides the same again for each hold that the new run opens. */
  async function answerUntilTheEnd(referenceId: string, decision: DecisionKind, rest: object) {
    const operator = operatorOf(env, referenceId);
    await waitUntil(`${referenceId} has ended again`, async () => {
      const { execution, hold } = await env.starter.status(referenceId);
      if (execution !== 'RUNNING') return true;
      if (hold) await operator.resolve(decision, { hold: hold.id, ...(decision === 'order' && rest) }).catch(() => {});
      return false;
    });
  }

  async function deliveredOnce(referenceId: string, operator: Operator) {
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, referenceId, 2);
    expect(await operator.brokenTasks()).toEqual([]);
  }
});
