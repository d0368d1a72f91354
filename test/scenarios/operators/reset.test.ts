import { purchaseMemo } from '../../../src/contracts/purchase';
import type { Decision, HoldReason } from '../../../src/domain/holds';
import { heldPurchase } from '../../support/held-purchases';
import { type Operator, operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const LOST = { operation: 'place', when: 'before', action: { type: 'reset' } } as const;
/** Booked seconds after the request, which gets no response. */
const LATE = { ...LOST, action: { type: 'hang' }, commit: { type: 'late', ms: 7_000 } } as const;

describe('a purchase that an operator resets', () => {
  const env = sharedEnvironment({
    sandbox: { agePerPollMs: 30_000 },
    pastOrders: 3,
    settings: { placeWithinMs: 60_000 },
  });

  it.concurrent.each([
    ['demo-instant', 2],
    ['demo-seconds', 1],
    ['demo-partial', 4],
    ['demo-refunded', 1],
  ] as const)(
    '%s × %i, reset to each reset point, neither buys nor delivers anything twice',
    async (product, quantity) => {
      const result = await env.bought({ [product]: quantity });
      await endsTheSameFromEachPoint(result.referenceId, (operator) => operator.result());
    },
  );

  it.concurrent.each<[HoldReason, Decision]>([
    ['PLACEMENT_UNKNOWN', 'order'],
    ['PLACEMENT_UNKNOWN', 'replace'],
    ['OTHER_ITEMS', 'deliver'],
    ['MORE_KEYS_THAN_ORDERED', 'deliver'],
    ['ORDER_CHANGES', 'deliver'],
    ['ORDER_TOO_LARGE', 'deliver'],
    ['DELIVERY_REFUSED', 'deliver'],
  ])('held as %s, decided with %s and reset to each reset point, repeats nothing', async (reason, decision) => {
    const { referenceId, operator, decide } = await heldPurchase(env, reason);
    await decide(decision);
    await operator.result();

    // The same decision again for each hold that the new run opens.
    await endsTheSameFromEachPoint(referenceId, () => untilEnded(referenceId, (holdId) => decide(decision, holdId)));
  });

  it.concurrent('rejected and reset to before the rejection, is held instead of placed again', async () => {
    const { referenceId } = await env.bought({ 'demo-out-of-stock': 1 });
    const operator = operatorOf(env, referenceId);

    await operator.reset((await operator.points())[0]!);

    await operator.held('PLACEMENT_UNKNOWN');
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
    await operator.resolve('abandon');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  // A placement may be tried for 10 s; the delays before its second and third attempts are 2 s and 4 s.
  it.concurrent.each([
    ['too late to try again', { failures: 2, point: 3, cancel: false }],
    ['with a cancel request', { failures: 1, point: 1, cancel: true }],
  ])(
    'reset to before the request, %s, finds the order placed meanwhile and places no other',
    async (_, { failures, point, cancel }) => {
      const action = { type: 'answer', status: 503 } as const;
      const referenceId = await env.buyFacing({ operation: 'orders', times: failures, action }, { 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      await operator.result();

      await operator.reset((await operator.points())[point]!);
      if (cancel) await operator.cancel();

      await expectDeliveredOnce(env, referenceId, 2);
    },
  );

  it.concurrent(
    'reset to before its placement, continues its order although the partner shows another reference',
    async () => {
      const { referenceId, orderId } = await env.opened({ 'demo-never': 2 });
      await showOtherReference(orderId);
      const operator = operatorOf(env, referenceId);
      await operator.reset((await operator.points())[0]!);
      await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });

      await expectDeliveredOnce(env, referenceId, 2);
      expect(await operator.result()).toMatchObject({ orderId });
    },
  );

  it.concurrent(
    'reset after a double purchase, continues with the order that it delivered, not with the older one',
    async () => {
      const { referenceId, orderId } = await env.bought({ 'demo-instant': 2 });
      const createdAt = new Date(Date.now() - 60_000).toISOString();
      await env.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-instant', quantity: 2 }], createdAt });
      const operator = operatorOf(env, referenceId);
      await operator.reset((await operator.points())[0]!);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', orderId });
      expect((await env.audit(referenceId)).received).toHaveLength(2);
    },
  );

  it.concurrent(
    'reset to before its placement, with its order no longer readable, is held, and can be replaced',
    async () => {
      const { referenceId, orderId } = await env.opened({ 'demo-never': 2 });
      await showOtherReference(orderId);
      env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action: { type: 'answer', status: 400 } });
      const operator = operatorOf(env, referenceId);
      await operator.reset((await operator.points())[0]!);

      const { explanation } = await operator.held('PLACEMENT_UNKNOWN');
      expect(explanation).toContain(`an earlier run recorded the order ${orderId}, which can't be read`);
      await operator.resolve('replace');
      await env.untilSent(referenceId, 2);
    },
  );

  it.concurrent(
    'reset to a search after a decision, waits for its order instead of asking for another decision',
    async () => {
      const referenceId = await env.buyFacing([LOST, LATE], { 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      await operator.held('PLACEMENT_UNKNOWN');
      const searches = await operator.scheduled('findOrders');
      await operator.resolve('replace');
      await env.untilSent(referenceId, 2);
      await operator.reset(searches.at(-1)!);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 2 });
    },
  );

  it.concurrent('reset to a search, waits for the order that the previous run sent, and buys once', async () => {
    const failed = { operation: 'place', action: { type: 'answer', status: 500 } } as const;
    const booked = { ...failed, commit: { type: 'late', ms: 7_000 } } as const;
    const referenceId = await env.buyFacing([failed, booked], { 'demo-instant': 2 });
    const operator = operatorOf(env, referenceId);
    await env.untilSent(referenceId, 2);

    // To the last search before the second placement, so the earlier searches are replayed.
    const { runId } = await env.starter.status(referenceId);
    const [, second] = await operator.scheduled('placeOrder', runId);
    const searches = await operator.scheduled('findOrders', runId);
    const last = searches.findLast((point) => Number(point) < Number(second));
    await operator.reset(last!, runId);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 2 });
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent('reset to after its last search, searches again and finds the order booked meanwhile', async () => {
    const failed = { operation: 'place', when: 'before', action: { type: 'answer', status: 500 } } as const;
    const referenceId = await env.buyFacing({ ...failed, times: 'always' }, { 'demo-instant': 2 });
    const operator = operatorOf(env, referenceId);
    await env.untilSent(referenceId);
    await operator.cancel();
    expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED' });
    await env.orderByHand({ 'demo-instant': 2 }, referenceId);

    await operator.reset(await pointAfterLast('findOrders', operator));

    // The checkout was told that nothing was bought, and may have refunded the customer.
    await expectAskedBefore(referenceId, 'purchase.cancelled');
  });

  it.concurrent('reset while the checkout may have received purchase.failed, delivers no key on its own', async () => {
    const { referenceId, orderId } = await env.opened({ 'demo-never': 2 });
    env.receiver.responseTo(referenceId, 500, 'purchase.failed');
    await env.sandbox.changeOrder(orderId, { status: 'FAILED' });
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });

    await operator.reset((await operator.points())[1]!);

    await expectAskedBefore(referenceId, 'purchase.failed');
  });

  it.concurrent(
    'reset to before, at or after a decision to place again, never places again because of that decision',
    async () => {
      const referenceId = await env.buyFacing({ operation: 'place', times: 'always', action: { type: 'reset' } });
      const operator = operatorOf(env, referenceId);
      const holds = [await operator.held('PLACEMENT_UNKNOWN')];
      const whileHeld = (await operator.points()).at(-1)!;
      await operator.resolve('replace');
      holds.push(await operator.held('PLACEMENT_UNKNOWN', ...holds));

      const { runId } = await env.starter.status(referenceId);
      const [, decided] = await operator.scheduled('placeOrder', runId);
      const [first] = await operator.points(runId);
      // The server passes the decision on to the new run: first to the hold that it decided, and finally to none.
      for (const point of [decided!, whileHeld, first!]) {
        await operator.reset(point, runId);
        holds.push(await operator.held('PLACEMENT_UNKNOWN', ...holds));
        expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
      }
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent(
    'reset to between its last search and its hold, waits for the order of the request that followed',
    async () => {
      const referenceId = await env.buyFacing([LOST, LATE], { 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      await operator.held('PLACEMENT_UNKNOWN');
      const afterSearch = await pointAfterLast('findOrders', operator);
      await operator.resolve('replace');
      await env.untilSent(referenceId, 2);
      await operator.reset(afterSearch);
      await untilEnded(referenceId, (holdId) => operator.resolve('replace', { holdId }));

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 2 });
    },
  );

  it.concurrent(
    'reset again to after the search that followed a reset, searches once more before it is held',
    async () => {
      const referenceId = await env.buyFacing(LOST, { 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      const first = await operator.held('PLACEMENT_UNKNOWN');
      await operator.reset(await pointAfterLast('findOrders', operator));
      await operator.held('PLACEMENT_UNKNOWN', first);
      const afterSearch = await pointAfterLast('findOrders', operator);
      await env.orderByHand({ 'demo-instant': 2 }, referenceId);
      await operator.reset(afterSearch);
      await untilEnded(referenceId, (holdId) => operator.resolve('abandon', { holdId }));

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    },
  );

  it.concurrent('reset to between its last search and its hold, explains what the new search found', async () => {
    const referenceId = await env.buyFacing(LOST, { 'demo-instant': 2 });
    const operator = operatorOf(env, referenceId);
    const before = await operator.held('PLACEMENT_UNKNOWN');
    const afterSearch = await pointAfterLast('findOrders', operator);
    const { id: orderId } = await env.orderByHand({ 'demo-instant': 2 }, env.reference());
    await operator.resolve('order', { orderId });
    await operator.result();
    env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action: { type: 'answer', status: 400 } });
    await operator.reset(afterSearch);

    const { explanation } = await operator.held('PLACEMENT_UNKNOWN', before);
    expect(explanation).toContain(`an earlier run recorded the order ${orderId}, which can't be read`);
  });

  it.concurrent(
    'reset before its placement has a response, finds the order of that placement and places no other',
    async () => {
      const referenceId = await env.buyFacing(
        [{ operation: 'place', when: 'after', action: { type: 'delay', ms: 700 } }],
        { 'demo-instant': 2 },
      );
      const operator = operatorOf(env, referenceId);
      await env.untilSent(referenceId);

      await operator.reset((await operator.points())[0]!);

      await expectDeliveredOnce(env, referenceId, 2);
    },
  );

  it.concurrent.each([
    ['polling', 'demo-never', 'pollUntilEnded'],
    ['delivering', 'demo-instant', 'deliverSale'],
  ])('reset to each reset point while %s, continues from there and delivers once', async (_, product, activity) => {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, 500);
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
    ['accepted', 204, ['purchase.partially_delivered', 'purchase.delivered']],
    ['refused so far', 503, ['purchase.delivered']],
  ] as const)(
    'reset to before its poll with its event %s, delivers the keys added meanwhile and none twice',
    async (_, answer, types) => {
      const referenceId = env.reference();
      env.receiver.responseTo(referenceId, answer, 'purchase.partially_delivered');
      await env.buy({ 'demo-never': 4 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('pollUntilEnded', 2);
      const keys = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await env.changeOrder(referenceId, { status: 'PARTIAL_COMPLETED', keys: [keys.slice(0, 2)] });
      await (answer === 204 ? operator.result() : operator.pending('deliverSale', 2));

      await env.changeOrder(referenceId, { status: 'COMPLETED', keys: [keys] });
      const { runId } = await env.starter.status(referenceId);
      const [first] = await operator.points();
      for (const _again of [1, 2]) {
        await operator.reset(first!, runId);
        await operator.pending('pollUntilEnded').catch(() => undefined);
        env.receiver.take(referenceId);
        expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 4 }] });
      }

      expect((await env.audit(referenceId)).received).toEqual(keys);
      expect(env.eventTypes(referenceId)).toEqual(types);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent.each(['REFUNDED', 'FAILED'] as const)(
    'reset after its delivery with its order now %s, keeps the delivered keys on record and names them in a notice',
    async (status) => {
      const { referenceId } = await env.bought({ 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      const memo = async () => purchaseMemo.parse((await env.handleOf(referenceId).describe()).memo);
      const { keyIds } = await memo();
      await env.changeOrder(referenceId, { status });

      const { runId } = await env.starter.status(referenceId);
      for (const point of await operator.points()) {
        await operator.reset(point, runId);
        const reason = `the partner says ${status}; keys delivered before: 2`;
        expect(await operator.result()).toMatchObject({ outcome: status, lines: [{ delivered: 2 }], reason });
        const { events, ...kept } = await memo();
        expect(kept).toMatchObject({ keyIds, outcomeKeyIds: {}, delivered: 2 });
        expect(events?.map(({ type }) => type)).toContain('purchase.attention');
      }

      const notices = env.receiver.eventsOf(referenceId).filter(({ type }) => type === 'purchase.attention');
      expect(notices.map(({ data }) => data)).toMatchObject([
        { kind: 'DELIVERED_KEYS_GONE', details: { keyIds: keyIds!['demo-instant'], count: 2 } },
      ]);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent.each([
    ['MORE_KEYS_THAN_ORDERED', { keys: [['A', 'B', 'C']] }],
    ['DELIVERY_REFUSED', {}],
  ] satisfies [HoldReason, object][])(
    'reset after its delivery and then withheld as %s, tells the checkout how many keys it has',
    async (reason, change) => {
      const { referenceId, orderId } = await env.bought({ 'demo-instant': 2 });
      const operator = operatorOf(env, referenceId);
      await env.sandbox.changeOrder(orderId!, change);
      env.receiver.responseTo(referenceId, 410, 'purchase.delivered');
      await operator.reset((await operator.points())[0]!);
      await operator.held(reason);
      await operator.resolve('withhold');

      expect((await operator.result()).reason).toContain('; keys delivered before: 2');
    },
  );

  it.concurrent(
    'reset after its keys were withheld, without a confirmation of that, delivers no key on its own',
    async () => {
      const referenceId = env.reference();
      env.receiver.responseTo(referenceId, 410);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.held('DELIVERY_REFUSED');
      await operator.resolve('withhold');
      expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
      env.receiver.take(referenceId);

      await operator.reset((await operator.points())[0]!);

      await expectAskedBefore(referenceId, 'purchase.abandoned');
    },
  );

  it.concurrent('reset to after its last poll once its keys were withheld, delivers no key on its own', async () => {
    const { referenceId, orderId } = await env.opened({ 'demo-never': 2 });
    env.receiver.responseTo(referenceId, 410, 'purchase.delivered');
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded');
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    await operator.held('DELIVERY_REFUSED');
    await operator.resolve('withhold');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
    env.receiver.take(referenceId);

    await operator.reset(await pointAfterLast('pollUntilEnded', operator));

    await expectAskedBefore(referenceId, 'purchase.abandoned');
  });

  it.concurrent(
    'reset after it ended REFUNDED, with its order now complete, delivers no key without a decision',
    async () => {
      const { referenceId } = await env.bought({ 'demo-refunded': 1 });
      const operator = operatorOf(env, referenceId);
      await env.changeOrder(referenceId, { status: 'COMPLETED' });
      // To before its poll. A reset to the last point would only repeat the end.
      await operator.reset((await operator.points()).at(-2)!);

      const { explanation } = await operator.held('ORDER_CHANGES');
      expect(explanation).toBe('the order has keys, but the checkout may already have received purchase.refunded');
      expect((await env.audit(referenceId)).received).toEqual([]);

      await operator.resolve('deliver');
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      await expectDeliveredOnce(env, referenceId, 1);
    },
  );

  /** The first point after the last activity of this type was scheduled. */
  async function pointAfterLast(activity: string, operator: Operator) {
    const last = (await operator.scheduled(activity)).at(-1);
    return (await operator.points()).find((point) => Number(point) > Number(last))!;
  }

  /** Decides each hold that opens. */
  async function untilEnded(referenceId: string, decide: (holdId: string) => Promise<unknown>) {
    await waitUntil(`${referenceId} has ended`, async () => {
      const { workflowStatus, hold } = await env.starter.status(referenceId);
      if (hold) await decide(hold.id).catch(() => undefined);
      return workflowStatus !== 'RUNNING';
    });
  }

  /** A newer order, which the search finds, keeps proving to the other tests that the search works. */
  async function showOtherReference(orderId: string) {
    await env.sandbox.changeOrder(orderId, { shownRow: { reference_id: 'another-reference' } });
    await env.orderByHand({ 'demo-instant': 1 }, env.reference());
  }

  /** The two keys are not delivered until an operator decides so, because of an event that the checkout may have. */
  async function expectAskedBefore(referenceId: string, event: string) {
    const operator = operatorOf(env, referenceId);
    expect((await operator.held('ORDER_CHANGES')).explanation).toContain(`may already have received ${event}`);
    await operator.resolve('deliver');
    await expectDeliveredOnce(env, referenceId, 2);
  }

  /** `finish` brings the new run to its end. Orders and delivered keys must stay the same. */
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
