import type { DecisionKind, HoldReason } from '../../../src/contracts/purchase';
import { startWorld, type World } from '../../support/world';
import { ARRANGEMENTS, answering, type Checkout } from './arrangements';
import { type Hands, handsOn, idsWithOtherKeys, judge, until } from './hands';

describe('a purchase that someone resets', () => {
  let world: World;
  let checkout: Checkout;

  beforeAll(async () => {
    world = await startWorld({ sandbox: { perLookMs: 30_000 } });
    checkout = answering(world);
    world.sandbox.addPastOrders({ count: 3 });
  });
  afterAll(() => world.close());

  it.concurrent.each([
    ['demo-instant', 2],
    ['demo-seconds', 1],
    ['demo-partial', 4],
    ['demo-refunded', 1],
  ] as const)(
    '%s × %i, reset to each of its points after its end, ends the same and buys and delivers nothing twice',
    async (product, quantity) => {
      const result = await world.bought({ [product]: quantity });
      await endsTheSameFromEachPoint(result.referenceId, (hands) => hands.result());
    },
    120_000,
  );

  it.concurrent.each([
    ['PLACEMENT_UNKNOWN', 'order'],
    ['PLACEMENT_UNKNOWN', 'replace'],
    ['OTHER_ITEMS', 'deliver'],
    ['MORE_KEYS_THAN_ORDERED', 'deliver'],
    ['KEY_GONE', 'deliver'],
    ['DELIVERY_REFUSED', 'deliver'],
  ] as [HoldReason, DecisionKind][])(
    'held because %s and decided with %s, reset to each of its points, buys and delivers nothing twice',
    async (reason, decision) => {
      const { referenceId, rest, onResolve } = await ARRANGEMENTS[reason]({
        ...{ world, checkout, referenceId: world.reference() },
      });
      const hands = handsOn(world, referenceId);
      await hands.held(reason);
      await onResolve?.();
      await hands.resolve(decision, decision === 'order' ? rest : {});
      await hands.result();

      await endsTheSameFromEachPoint(referenceId, () => answerUntilTheEnd(referenceId, decision, rest));
    },
    180_000,
  );

  it.concurrent(
    'rejected, and reset to before that, asks a person instead of the partner',
    async () => {
      const { referenceId } = await world.bought({ 'demo-out-of-stock': 1 });
      const hands = handsOn(world, referenceId);

      await hands.reset((await hands.points())[0]!);

      await hands.held('PLACEMENT_UNKNOWN');
      expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 1 });
      await hands.resolve('abandon');
      expect(await hands.result()).toMatchObject({ outcome: 'ABANDONED' });
    },
    60_000,
  );

  it.concurrent(
    'with a decision to place again behind it, never places on the ground of that decision',
    async () => {
      const referenceId = world.reference();
      world.sandbox.addFault({ operation: 'place', referenceId, times: 'always', action: { type: 'reset' } });
      await world.buy({ 'demo-instant': 1 }, referenceId);
      const hands = handsOn(world, referenceId);
      const first = await hands.held('PLACEMENT_UNKNOWN');
      const [whileHeld] = (await hands.points()).slice(-1);
      await hands.resolve('replace');
      const second = await hands.held('PLACEMENT_UNKNOWN', first);
      expect(world.sandbox.placeRequestsOf(referenceId)).toBe(2);

      // The server hands the decision on to the new run: to the very hold that it answered, and then to none.
      await hands.reset(whileHeld!);
      const third = await hands.held('PLACEMENT_UNKNOWN', first, second);
      expect(world.sandbox.placeRequestsOf(referenceId)).toBe(2);

      await hands.reset((await hands.points())[0]!);
      await hands.held('PLACEMENT_UNKNOWN', first, second, third);
      expect(world.sandbox.placeRequestsOf(referenceId)).toBe(2);
      expect(await hands.brokenTasks()).toEqual([]);
    },
    120_000,
  );

  it.concurrent('while its placement has no answer yet, finds the order that came of it', async () => {
    const referenceId = world.reference();
    world.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'delay', ms: 700 } });
    await world.buy({ 'demo-instant': 2 }, referenceId);
    const hands = handsOn(world, referenceId);
    await until(async () => world.sandbox.placeRequestsOf(referenceId) === 1);

    await hands.reset((await hands.points())[0]!);

    await deliveredOnce(referenceId, hands);
  });

  it.concurrent('while the order is looked at, to each point that it has, goes on from there', async () => {
    const referenceId = await world.buy({ 'demo-never': 2 });
    const hands = handsOn(world, referenceId);
    await hands.pending('awaitOrderChange', 2);
    const { runId } = await world.starter.status(referenceId);
    for (const point of await hands.points()) {
      await hands.reset(point, runId);
      await hands.pending('awaitOrderChange', 2);
    }
    const [order] = await world.sandbox.ordersOf(referenceId);
    await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });

    await deliveredOnce(referenceId, hands);
  });

  it.concurrent('while its keys are delivered, to each point that it has, delivers one event', async () => {
    const referenceId = world.reference();
    checkout.refuses(referenceId, 'purchase.delivered', 500);
    await world.buy({ 'demo-instant': 2 }, referenceId);
    const hands = handsOn(world, referenceId);
    await hands.pending('deliverEvent', 2);
    const { runId } = await world.starter.status(referenceId);
    for (const point of await hands.points()) {
      await hands.reset(point, runId);
      await hands.pending('deliverEvent', 2);
    }
    checkout.takes(referenceId);

    await deliveredOnce(referenceId, hands);
  });

  it.concurrent.each([
    ['taken', 204, ['purchase.partially_delivered', 'purchase.late_delivery']],
    ['refused so far', 503, ['purchase.partially_delivered', 'purchase.late_delivery']],
  ] as const)(
    'to before its look, with an event that was %s and an order that is fuller now, names only what is new in a new event',
    async (_, answer, types) => {
      const referenceId = world.reference();
      if (answer !== 204) checkout.refuses(referenceId, 'purchase.partially_delivered', answer);
      await world.buy({ 'demo-never': 4 }, referenceId);
      const hands = handsOn(world, referenceId);
      await hands.pending('awaitOrderChange', 2);
      const [order] = await world.sandbox.ordersOf(referenceId);
      const keys = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await world.sandbox.changeOrder(order!.id, { status: 'PARTIAL_COMPLETED', keys: [keys.slice(0, 2)] });
      await (answer === 204 ? hands.result() : hands.pending('deliverEvent', 2));

      await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED', keys: [keys] });
      const { runId } = await world.starter.status(referenceId);
      const [first] = await hands.points();
      for (const _again of [1, 2]) {
        await hands.reset(first!, runId);
        await hands.pending('awaitOrderChange').catch(() => undefined);
        checkout.takes(referenceId);
        expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 4 }] });
      }

      expect((await judge(world, referenceId)).received).toEqual(keys);
      expect(world.eventTypes(referenceId)).toEqual(types);
      expect(await hands.brokenTasks()).toEqual([]);
    },
  );

  // After all of the above: Jest runs the tests that are not concurrent last.
  it('no event ever came with other keys under its id', () => {
    expect(world.receiver.attempts.length).toBeGreaterThan(20);
    expect(idsWithOtherKeys(world)).toEqual([]);
  });

  /** `finish` brings the new run to its end. The partner's books and the checkout's events stay as they are. */
  async function endsTheSameFromEachPoint(referenceId: string, finish: (hands: Hands) => Promise<unknown>) {
    const hands = handsOn(world, referenceId);
    const result = await hands.result();
    const { runId } = await world.starter.status(referenceId);
    const before = { ...(await judge(world, referenceId)), outcome: result.outcome, order: result.orderId };
    const points = await hands.points();
    expect(points.length).toBeGreaterThan(2);

    for (const point of points) {
      await hands.reset(point, runId);
      await finish(hands);
      const again = await hands.result();
      const after = { ...(await judge(world, referenceId)), outcome: again.outcome, order: again.orderId };
      expect({ point: Number(point), ...after }).toEqual({ point: Number(point), ...before });
      expect(await hands.brokenTasks()).toEqual([]);
    }
  }

  /** Decides the same again for each hold that the new run opens. */
  async function answerUntilTheEnd(referenceId: string, decision: DecisionKind, rest: object) {
    const hands = handsOn(world, referenceId);
    await until(async () => {
      const { execution, hold } = await world.starter.status(referenceId);
      if (execution !== 'RUNNING') return true;
      if (hold) await hands.resolve(decision, { hold: hold.id, ...(decision === 'order' && rest) }).catch(() => {});
      return false;
    });
  }

  async function deliveredOnce(referenceId: string, hands: Hands) {
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received, ...counts } = await judge(world, referenceId);
    expect(counts).toEqual({ orders: 1, sent: 1 });
    expect(received).toEqual(issued);
    expect(received).toHaveLength(2);
    expect(await hands.brokenTasks()).toEqual([]);
  }
});
