import type { Answer } from '../../support/receiver';
import { startWorld, type World } from '../../support/world';
import { handsOn, judge, until } from '../operators/hands';

const A_QUARTER_OF_AN_HOUR = 15 * 60_000;

describe('what an event hands over is fixed when its order is seen', () => {
  let world: World;
  const answers = new Map<string, Answer>();

  beforeAll(async () => {
    world = await startWorld();
    world.receiver.answerWith(({ body }) =>
      body.type === 'purchase.held' ? 204 : (answers.get(body.data.referenceId) ?? 204),
    );
  });
  afterAll(() => world.close());

  /** An order that is as given, whose event the checkout refuses for now. */
  async function waitingForDelivery(product: string, quantity: number, answer: Answer = 503) {
    const referenceId = world.reference();
    answers.set(referenceId, answer);
    await world.buy({ [product]: quantity }, referenceId);
    const hands = handsOn(world, referenceId);
    const order = await until(async () => (await world.sandbox.ordersOf(referenceId))[0]);
    return { referenceId, hands, orderId: order.id };
  }

  const valuesOf = (referenceId: string, type = 'purchase.') =>
    world.receiver.attempts
      .filter(({ body }) => body.data.referenceId === referenceId && body.type.startsWith(type))
      .map(({ id, body }) => ({
        id,
        keys: (body.data.lines ?? []).flatMap((line) => line.keys ?? []).map((key) => key.value),
      }));

  it.concurrent(
    'a fuller order after a lost receipt changes nothing of the event: the same keys, the same id',
    async () => {
      const { referenceId, hands, orderId } = await waitingForDelivery('demo-never', 4, 'take-and-reset');
      await world.sandbox.changeOrder(orderId, {
        status: 'PARTIAL_COMPLETED',
        keys: [[`A-${referenceId}`, `B-${referenceId}`]],
      });
      await hands.pending('deliverEvent', 2);

      const all = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await world.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [all] });
      answers.delete(referenceId);

      expect(await hands.result()).toMatchObject({ outcome: 'PARTIALLY_DELIVERED' });
      const attempts = valuesOf(referenceId);
      expect(attempts.length).toBeGreaterThan(1);
      expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
      for (const { keys } of attempts) expect(keys).toEqual(all.slice(0, 2));
    },
  );

  it.concurrent('keys that come in another order are the same event', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-never', 2);
    await world.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });
    await hands.pending('deliverEvent', 2);

    await world.sandbox.changeOrder(orderId, { keys: [[`B-${referenceId}`, `A-${referenceId}`]] });
    answers.delete(referenceId);

    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    for (const { keys } of valuesOf(referenceId)) expect(keys).toEqual([`A-${referenceId}`, `B-${referenceId}`]);
  });

  it.concurrent('a key that is gone holds the purchase: none of another value is slipped in', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-instant', 2);
    await hands.pending('deliverEvent', 2);
    await world.sandbox.changeOrder(orderId, { keys: [[`X-${referenceId}`, `Y-${referenceId}`]] });
    answers.delete(referenceId);

    await hands.held('KEY_GONE');
    expect(world.eventTypes(referenceId).filter((type) => type !== 'purchase.held')).toEqual([]);
    const before = valuesOf(referenceId, 'purchase.delivered');
    expect(before.flatMap(({ keys }) => keys)).not.toContain(`X-${referenceId}`);

    await hands.resolve('deliver');
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    const fresh = valuesOf(referenceId, 'purchase.delivered').at(-1)!;
    expect(fresh.keys).toEqual([`X-${referenceId}`, `Y-${referenceId}`]);
    expect(before.map(({ id }) => id)).not.toContain(fresh.id);
  });

  it.concurrent('a fresh look that shows no end leaves the event as it was, and never calls it overdue', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-instant', 2);
    await hands.pending('deliverEvent', 2);
    await world.sandbox.changeOrder(orderId, { status: 'PROCESSING' });
    answers.delete(referenceId);
    const first = await hands.held('KEY_GONE');

    await hands.resolve('deliver');
    await hands.held('KEY_GONE', first);
    await world.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    await hands.resolve('deliver');

    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await judge(world, referenceId);
    expect(received).toEqual(issued);
  });

  it.concurrent('an order that is refunded before its keys are handed over hands over none', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-instant', 2);
    await hands.pending('deliverEvent', 2);
    await world.sandbox.changeOrder(orderId, { status: 'REFUNDED' });
    answers.delete(referenceId);
    await hands.held('KEY_GONE');

    await hands.resolve('deliver');

    expect(await hands.result()).toMatchObject({ outcome: 'REFUNDED' });
    expect(world.eventTypes(referenceId)).toEqual(['purchase.held', 'purchase.refunded']);
    expect((await judge(world, referenceId)).received).toEqual([]);
  });

  it.concurrent('more keys than were ordered are shown to a person before any of them leaves', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-never', 1, 204);
    await world.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });

    await hands.held('MORE_KEYS_THAN_ORDERED');
    expect(valuesOf(referenceId).flatMap(({ keys }) => keys)).toEqual([]);

    await hands.resolve('deliver');
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(valuesOf(referenceId, 'purchase.delivered').map(({ keys }) => keys)).toEqual([
      [`A-${referenceId}`, `B-${referenceId}`],
    ]);
  });

  it.concurrent('other items than were ordered are shown to a person before any key of them leaves', async () => {
    const referenceId = world.reference();
    const items = [{ id: 'demo-instant', quantity: 2 }];
    world.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
    await world.buy({ 'demo-seconds': 2 }, referenceId);
    const hands = handsOn(world, referenceId);

    await hands.held('OTHER_ITEMS');
    expect(valuesOf(referenceId).flatMap(({ keys }) => keys)).toEqual([]);

    await hands.resolve('abandon');
    expect(await hands.result()).toMatchObject({ outcome: 'ABANDONED' });
    expect(world.eventTypes(referenceId)).toEqual(['purchase.held', 'purchase.abandoned']);
  });

  it.concurrent('a key that stands twice in an order is handed over twice: both were paid for', async () => {
    const { referenceId, hands, orderId } = await waitingForDelivery('demo-never', 3, 204);
    const keys = [`SAME-${referenceId}`, `SAME-${referenceId}`, `OTHER-${referenceId}`];
    await world.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [keys] });

    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 3 }] });
    expect(valuesOf(referenceId).map((attempt) => attempt.keys)).toEqual([keys]);
  });

  it.concurrent.each([
    ['demo-partial-then-complete', 'PARTIALLY_DELIVERED', 2],
    ['demo-complete-then-refunded', 'DELIVERED', 4],
  ] as const)('%s ends %s, and what was delivered stays: nothing comes twice', async (product, outcome, count) => {
    const ownWorld = await startWorld();
    try {
      const referenceId = await ownWorld.buy({ [product]: 4 });
      const hands = handsOn(ownWorld, referenceId);
      await hands.pending('awaitOrderChange');
      ownWorld.sandbox.advance(10_000);
      expect(await hands.result()).toMatchObject({ outcome });
      const { received } = await judge(ownWorld, referenceId);
      expect(received).toHaveLength(count);

      ownWorld.sandbox.advance(A_QUARTER_OF_AN_HOUR);
      const items = [{ productId: product, quantity: 4 }];
      expect(await ownWorld.starter.purchase({ referenceId, items })).toMatchObject({ started: false });

      expect(await hands.result()).toMatchObject({ outcome });
      expect(await judge(ownWorld, referenceId)).toMatchObject({ orders: 1, sent: 1, received });
    } finally {
      await ownWorld.close();
    }
  });

  // After all of the above: Jest runs the tests that are not concurrent last.
  it('no event ever came with other keys or other words under its id', () => {
    expect(world.receiver.attempts.length).toBeGreaterThan(10);
    expect(world.receiver.contradictions).toEqual([]);
  });
});
