import { startWorld, type World } from '../../support/world';
import { type Hands, handsOn, judge, until } from './hands';

describe('a purchase that someone cancels, terminates or starts again', () => {
  let world: World;
  const silent = new Set<string>();

  beforeAll(async () => {
    world = await startWorld({ settings: { replace: 'never' } });
    world.sandbox.addPastOrders({ count: 3 });
    world.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 500 : 204));
  });
  afterAll(() => world.close());

  async function started(product: string, prepare: (referenceId: string) => void = () => {}) {
    const referenceId = world.reference();
    prepare(referenceId);
    await world.buy({ [product]: 2 }, referenceId);
    return { referenceId, hands: handsOn(world, referenceId) };
  }

  /** Whatever the moment of the cancel was: paid goods reach the checkout, and the result says that it was asked for. */
  async function seenThrough(referenceId: string, hands: Hands) {
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
    const { issued, received, ...counts } = await judge(world, referenceId);
    expect(counts).toEqual({ orders: 1, sent: 1 });
    expect(received).toEqual(issued);
    expect(received).toHaveLength(2);
  }

  it.concurrent('before the placement is sent, ends CANCELLED and never sends it', async () => {
    const { referenceId, hands } = await started('demo-instant', (id) =>
      world.sandbox.addFault({
        ...{ operation: 'orders', referenceId: id, times: 'always' },
        action: { type: 'answer', status: 503 },
      }),
    );
    await until(async () => (await hands.scheduled('placeOrder')) > 0);

    await hands.cancel();

    expect(await hands.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 0 });
    expect(world.eventTypes(referenceId)).toEqual(['purchase.cancelled']);
  });

  it.concurrent('while the placement is on its way, is only noted: the order is bought and delivered', async () => {
    const { referenceId, hands } = await started('demo-instant', (id) =>
      world.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'delay', ms: 500 } }),
    );
    await until(async () => world.sandbox.placeRequestsOf(referenceId) === 1);

    await hands.cancel();

    await seenThrough(referenceId, hands);
  });

  it.concurrent('while a placement without an answer is settled, the order that is found is seen through', async () => {
    world.sandbox.settings({ historyLagRequests: 0 });
    const { referenceId, hands } = await started('demo-instant', (id) => {
      world.sandbox.addFault({ operation: 'place', referenceId: id, when: 'after', action: { type: 'reset' } });
      world.sandbox.addFault({
        ...{ operation: 'orders', referenceId: id, nth: 2, times: 2 },
        action: { type: 'answer', status: 503 },
      });
    });
    await world.untilState(referenceId, 'UNCONFIRMED');

    await hands.cancel();

    await seenThrough(referenceId, hands);
  });

  it.concurrent('while a placement without an answer is settled, ends CANCELLED if no order came of it', async () => {
    const { referenceId, hands } = await started('demo-instant', (id) =>
      world.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'reset' } }),
    );
    await world.untilState(referenceId, 'UNCONFIRMED');

    await hands.cancel();

    expect(await hands.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 1 });
  });

  it.concurrent('while it is held with the order shown absent, ends CANCELLED and never places', async () => {
    const { referenceId, hands } = await started('demo-instant', (id) =>
      world.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'reset' } }),
    );
    await hands.held('PLACEMENT_UNKNOWN');

    await hands.cancel();

    expect(await hands.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 1 });
  });

  it.concurrent(
    'while it is held with the history unreadable, stays held: an order may exist, so a person decides',
    async () => {
      const { referenceId, hands } = await started('demo-instant', (id) => {
        world.sandbox.addFault({ operation: 'place', referenceId: id, when: 'after', action: { type: 'reset' } });
        world.sandbox.addFault({
          ...{ operation: 'orders', referenceId: id, nth: 2, times: 'always' },
          action: { type: 'answer', status: 503 },
        });
      });
      await hands.held('PLACEMENT_UNKNOWN');

      await hands.cancel();
      await until(async () => (await hands.cancelHeard()) && (await hands.tasksDone()));
      expect(await world.starter.status(referenceId)).toMatchObject({ state: 'HELD', execution: 'RUNNING' });

      const [order] = await world.sandbox.ordersOf(referenceId);
      await hands.resolve('order', { orderId: order!.id });
      await seenThrough(referenceId, hands);
    },
  );

  it.concurrent('while the order is looked at, is only noted', async () => {
    const { referenceId, hands } = await started('demo-never');
    await hands.pending('awaitOrderChange', 2);

    await hands.cancel();
    const [order] = await world.sandbox.ordersOf(referenceId);
    await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });

    await seenThrough(referenceId, hands);
  });

  it.concurrent('while the keys are delivered, is only noted: the event is tried on', async () => {
    const { referenceId, hands } = await started('demo-instant', (id) => silent.add(id));
    await hands.pending('deliverEvent', 2);

    await hands.cancel();
    await until(() => hands.cancelHeard());
    silent.delete(referenceId);

    await seenThrough(referenceId, hands);
  });

  it.concurrent.each([
    ['while it is looked at', 'demo-never', (hands: Hands) => hands.pending('awaitOrderChange', 2)],
    ['after its end', 'demo-instant', (hands: Hands) => hands.result()],
  ] as const)(
    'terminated or ended %s, a start of the same sale finds it and buys nothing',
    async (_, product, moment) => {
      const { referenceId, hands } = await started(product);
      await moment(hands);
      if (product === 'demo-never') await hands.terminate();

      const again = await world.starter.purchase({ referenceId, items: [{ productId: product, quantity: 2 }] });

      expect(again.started).toBe(false);
      expect(await judge(world, referenceId)).toMatchObject({ orders: 1, sent: 1 });
    },
  );

  it.concurrent('terminated and then reset, sees its order through and buys nothing', async () => {
    const { referenceId, hands } = await started('demo-never');
    await hands.pending('awaitOrderChange', 2);
    await hands.terminate();
    const [order] = await world.sandbox.ordersOf(referenceId);
    await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });

    const [first] = await hands.points();
    await hands.reset(first!);

    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED', orderId: order!.id });
    expect(await judge(world, referenceId)).toMatchObject({ orders: 1, sent: 1 });
  });
});
