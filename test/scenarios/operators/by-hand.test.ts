import type { Answer } from '../../support/receiver';
import { startWorld, type World } from '../../support/world';
import { handsOn, judge, until } from './hands';

const JUNK: [string, unknown][] = [
  ['nothing', null],
  ['a word', 'done'],
  ['an empty object', {}],
  ['a list', []],
];

describe('an activity that someone completes or fails by hand', () => {
  let world: World;
  const silent = new Map<string, Answer>();

  beforeAll(async () => {
    // Attempts that hang last until a person has ended them.
    world = await startWorld({ settings: { partnerTimeoutMs: 4_000, deliveryTimeoutMs: 4_000 } });
    world.sandbox.addPastOrders({ count: 3 });
    world.receiver.answerWith(({ body }) => silent.get(body.data.referenceId) ?? 204);
  });
  afterAll(() => world.close());
  async function placing() {
    const referenceId = world.reference();
    world.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
    await world.buy({ 'demo-instant': 1 }, referenceId);
    await until(async () => world.sandbox.placeRequestsOf(referenceId) === 1);
    return { referenceId, hands: handsOn(world, referenceId) };
  }

  it.concurrent.each([
    ...JUNK,
    ['orders that are none', { evidence: 'FOUND', orders: [null, 'REF'] }],
    ['an order id that is none', { evidence: 'PLACED', orderId: 7 }],
    ['an order id that would change the path', { evidence: 'PLACED', orderId: '../x' }],
  ])(
    'placeOrder completed with %s is of unknown outcome: the order is found, and not placed again',
    async (_, junk) => {
      const { referenceId, hands } = await placing();

      await hands.complete('placeOrder', junk);

      expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { issued, received, ...counts } = await judge(world, referenceId);
      expect(counts).toEqual({ orders: 1, sent: 1 });
      expect(received).toEqual(issued);
      expect(await hands.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent('placeOrder failed by hand is of unknown outcome too', async () => {
    const { referenceId, hands } = await placing();

    await hands.fail('placeOrder');

    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(await judge(world, referenceId)).toMatchObject({ orders: 1, sent: 1 });
  });

  it.concurrent.each([
    ...JUNK,
    ['an order without lines', { orderId: 'x', status: 'COMPLETED' }],
    ['lines that are none', { orderId: 'x', status: 'COMPLETED', lines: [null] }],
    ["another order's view", { orderId: 'x', status: 'FAILED', lines: [] }],
  ])('awaitOrderChange completed with %s does not end the looking', async (_, junk) => {
    const referenceId = await world.buy({ 'demo-never': 1 });
    const hands = handsOn(world, referenceId);
    await hands.pending('awaitOrderChange', 2);

    await hands.complete('awaitOrderChange', junk);

    await until(async () => (await hands.scheduled('awaitOrderChange')) > 1);
    const [order] = await world.sandbox.ordersOf(referenceId);
    await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await judge(world, referenceId);
    expect(received).toEqual(issued);
    expect(received).toHaveLength(1);
    expect(await hands.brokenTasks()).toEqual([]);
  });

  it.concurrent('awaitOrderChange failed by hand does not end the looking either', async () => {
    const referenceId = await world.buy({ 'demo-never': 1 });
    const hands = handsOn(world, referenceId);
    await hands.pending('awaitOrderChange', 2);
    const [order] = await world.sandbox.ordersOf(referenceId);
    world.sandbox.addFault({ operation: 'keys', orderId: order!.id, action: { type: 'hang' } });

    await hands.fail('awaitOrderChange');

    await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
    expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
  });

  it.concurrent.each([...JUNK, ['failed', undefined]])(
    'deliverEvent ended by hand with %s is not delivered: it is held, and sent under the same id when a person says so',
    async (_, junk) => {
      const referenceId = world.reference();
      // An attempt can be failed only while it runs.
      silent.set(referenceId, junk === undefined ? 'hang' : 500);
      await world.buy({ 'demo-instant': 2 }, referenceId);
      const hands = handsOn(world, referenceId);
      await hands.pending('deliverEvent', 2);

      await (junk === undefined ? hands.fail('deliverEvent') : hands.complete('deliverEvent', junk));
      const hold = await hands.held('DELIVERY_EXHAUSTED');
      expect(hold.explanation).not.toContain('for a day');
      expect(world.eventTypes(referenceId)).toEqual([]);
      silent.delete(referenceId);
      await hands.resolve('deliver');

      expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { issued, received } = await judge(world, referenceId);
      expect(received).toEqual(issued);
      const ids = world.receiver.attempts
        .filter(({ body }) => body.type === 'purchase.delivered' && body.data.referenceId === referenceId)
        .map(({ id }) => id);
      expect(new Set(ids).size).toBe(1);
      expect(await hands.brokenTasks()).toEqual([]);
    },
  );

  // After all of the above: Jest runs the tests that are not concurrent last.
  it('no event ever came with other keys or other words under its id', () => {
    expect(world.receiver.attempts.length).toBeGreaterThan(10);
    expect(world.receiver.contradictions).toEqual([]);
  });
});
