import type { DecisionKind, HoldReason } from '../../../src/domain/holds';
import { heldPurchase } from '../../support/held-purchases';
import { type Operator, operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

jest.setTimeout(180_000);

describe('a purchase that someone resets', () => {
  const env = sharedEnvironment({ sandbox: { perLookMs: 30_000 }, pastOrders: 3 });

  it.concurrent.each([
    ['demo-instant', 2],
    ['demo-seconds', 1],
    ['demo-partial', 4],
    ['demo-refunded', 1],
  ] as const)('%s × %i, reset to each of its points, buys and delivers nothing twice', async (product, quantity) => {
    const result = await env.bought({ [product]: quantity });
    await endsTheSameFromEachPoint(result.referenceId, (operator) => operator.result());
  });

  it.concurrent.each<[HoldReason, DecisionKind]>([
    ['PLACEMENT_UNKNOWN', 'order'],
    ['PLACEMENT_UNKNOWN', 'replace'],
    ['OTHER_ITEMS', 'deliver'],
    ['MORE_KEYS_THAN_ORDERED', 'deliver'],
    ['ORDER_CHANGES', 'deliver'],
    ['ORDER_TOO_LARGE', 'deliver'],
    ['DELIVERY_REFUSED', 'deliver'],
  ])('held because %s and decided with %s, reset to each point, does nothing twice', async (reason, decision) => {
    const { referenceId, operator, decide } = await heldPurchase(env, reason);
    await decide(decision);
    await operator.result();

    // The same decision again for each hold that the new run opens.
    await endsTheSameFromEachPoint(referenceId, () =>
      waitUntil(`${referenceId} has ended again`, async () => {
        const { execution, hold } = await env.starter.status(referenceId);
        if (hold) await decide(decision, hold.id).catch(() => {});
        return execution !== 'RUNNING';
      }),
    );
  });

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
  ])('to before the request, %s, finds the order that was placed since', async (_, { failures, point, cancel }) => {
    const action = { type: 'answer', status: 503 } as const;
    const referenceId = await env.buyFacing({ operation: 'orders', times: failures, action }, { 'demo-instant': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.result();

    await operator.reset((await operator.points())[point]!);
    if (cancel) await operator.cancel();

    await expectDeliveredOnce(env, referenceId, 2);
  });

  it.concurrent('to within a search, waits for what the run before has sent since, and buys once', async () => {
    const failed = { operation: 'place', action: { type: 'answer', status: 500 } } as const;
    const booked = { ...failed, commit: { type: 'late', ms: 7_000 } } as const;
    const referenceId = await env.buyFacing([failed, booked], { 'demo-instant': 2 });
    const operator = operatorOf(env, referenceId);
    await env.untilSent(referenceId, 2);

    // To the last search before the second placement: what those before it have shown is replayed.
    const { runId } = await env.starter.status(referenceId);
    const [, second] = await operator.scheduled('placeOrder', runId);
    const searches = await operator.scheduled('findOrders', runId);
    const last = searches.findLast((point) => Number(point) < Number(second));
    await operator.reset(last!, runId);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 2 });
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent(
    'to after the last search before its end, finds what was booked since in a window of its own',
    async () => {
      const booked = {
        operation: 'place',
        action: { type: 'answer', status: 500 },
        commit: { type: 'late', ms: 7_000 },
      } as const;
      const referenceId = await env.buyFacing(booked, { 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      await env.untilSent(referenceId);
      await operator.cancel();
      expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED' });

      const lastSearch = (await operator.scheduled('findOrders')).at(-1);
      await operator.reset((await operator.points()).find((point) => Number(point) > Number(lastSearch))!);

      await expectDeliveredOnce(env, referenceId, 2);
    },
  );

  it.concurrent('to before, at or after a decision to place again, never places on the ground of it', async () => {
    const referenceId = await env.buyFacing({ operation: 'place', times: 'always', action: { type: 'reset' } });
    const operator = operatorOf(env, referenceId);
    const holds = [await operator.held('PLACEMENT_UNKNOWN')];
    const whileHeld = (await operator.points()).at(-1)!;
    await operator.resolve('replace');
    holds.push(await operator.held('PLACEMENT_UNKNOWN', ...holds));

    const { runId } = await env.starter.status(referenceId);
    const [, decided] = await operator.scheduled('placeOrder', runId);
    const [first] = await operator.points(runId);
    // The server hands the decision on to the new run: to the very hold that it answered, and at last to none.
    for (const point of [decided!, whileHeld, first!]) {
      await operator.reset(point, runId);
      holds.push(await operator.held('PLACEMENT_UNKNOWN', ...holds));
      expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
    }
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent('while its placement has no answer yet, finds the order that came of it', async () => {
    const referenceId = await env.buyFacing(
      [{ operation: 'place', when: 'after', action: { type: 'delay', ms: 700 } }],
      { 'demo-instant': 2 },
    );
    const operator = operatorOf(env, referenceId);
    await env.untilSent(referenceId);

    await operator.reset((await operator.points())[0]!);

    await expectDeliveredOnce(env, referenceId, 2);
  });

  it.concurrent.each([
    ['its order is polled', 'demo-never', 'awaitOrderChange'],
    ['its keys are delivered', 'demo-instant', 'deliverSale'],
  ])('while %s, to each point that it has, goes on from there and delivers once', async (_, product, activity) => {
    const referenceId = env.reference();
    env.receiver.answerTo(referenceId, 500);
    await env.buy({ [product]: 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending(activity, 2);
    const { runId } = await env.starter.status(referenceId);
    for (const point of await operator.points()) {
      await operator.reset(point, runId);
      await operator.pending(activity, 2);
    }
    env.receiver.take(referenceId);
    await env.changeOrder(referenceId, { status: 'COMPLETED' });

    await expectDeliveredOnce(env, referenceId, 2);
  });

  it.concurrent.each([
    ['taken', 204, ['purchase.partially_delivered', 'purchase.delivered']],
    ['refused so far', 503, ['purchase.delivered']],
  ] as const)('to before its poll, its event %s, delivers a fuller sale as it is now', async (_, answer, types) => {
    const referenceId = env.reference();
    env.receiver.answerTo(referenceId, answer, 'purchase.partially_delivered');
    await env.buy({ 'demo-never': 4 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);
    const keys = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
    await env.changeOrder(referenceId, { status: 'PARTIAL_COMPLETED', keys: [keys.slice(0, 2)] });
    await (answer === 204 ? operator.result() : operator.pending('deliverSale', 2));

    await env.changeOrder(referenceId, { status: 'COMPLETED', keys: [keys] });
    const { runId } = await env.starter.status(referenceId);
    const [first] = await operator.points();
    for (const _again of [1, 2]) {
      await operator.reset(first!, runId);
      await operator.pending('awaitOrderChange').catch(() => undefined);
      env.receiver.take(referenceId);
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 4 }] });
    }

    expect((await env.audit(referenceId)).received).toEqual(keys);
    expect(env.eventTypes(referenceId)).toEqual(types);
    expect(await operator.brokenTasks()).toEqual([]);
  });

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
});
