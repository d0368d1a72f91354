import { startWorld, type World } from '../../support/world';
import { type Hands, handsOn, judge, until } from './hands';

/** What the UI and the CLI offer for an activity that has not ended. Each leaves it to go on. */
const OPERATIONS: [string, (hands: Hands, activity: string) => Promise<void>][] = [
  [
    'paused and unpaused',
    async (hands, activity) => {
      await hands.pause(activity);
      await until(async () => (await hands.pending(activity)).paused);
      await hands.unpause(activity);
    },
  ],
  ['reset', (hands, activity) => hands.resetActivity(activity)],
  ['reset with its heartbeat', (hands, activity) => hands.resetActivity(activity, { resetHeartbeat: true })],
  [
    'paused, reset while it stays so, and unpaused',
    async (hands, activity) => {
      await hands.pause(activity);
      await hands.resetActivity(activity, { keepPaused: true, resetHeartbeat: true });
      await until(async () => (await hands.pending(activity)).paused);
      await hands.unpause(activity);
    },
  ],
  ['given other options', (hands, activity) => hands.updateOptions(activity)],
];

describe('a pending activity in the hands of a person', () => {
  let world: World;
  const silent = new Set<string>();

  beforeAll(async () => {
    world = await startWorld();
    world.sandbox.addPastOrders({ count: 3 });
    world.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 500 : 204));
  });
  afterAll(() => world.close());

  it.concurrent.each(OPERATIONS)(
    'placeOrder without an answer, %s and then failed, sends nothing again, whether or not it is dispatched again',
    async (_, operate) => {
      const referenceId = world.reference();
      world.sandbox.addFault({ operation: 'place', referenceId, times: 'always', action: { type: 'hang' } });
      await world.buy({ 'demo-instant': 1 }, referenceId);
      const hands = handsOn(world, referenceId);
      await until(async () => world.sandbox.placeRequestsOf(referenceId) === 1);

      // Only a failed attempt is dispatched again; before that, all of these change nothing.
      const operating = operate(hands, 'placeOrder');
      await hands.fail('placeOrder', { final: false });
      await operating;

      await hands.held('PLACEMENT_UNKNOWN');
      expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 1 });
      await hands.resolve('abandon');
      expect(await hands.result()).toMatchObject({ outcome: 'ABANDONED' });
      expect(await judge(world, referenceId)).toMatchObject({ orders: 0, sent: 1 });
    },
    60_000,
  );

  it.concurrent.each(OPERATIONS)(
    'awaitOrderChange, %s, goes on looking and delivers once',
    async (_, operate) => {
      const referenceId = await world.buy({ 'demo-never': 2 });
      const hands = handsOn(world, referenceId);
      await hands.pending('awaitOrderChange', 2);

      await operate(hands, 'awaitOrderChange');

      const [order] = await world.sandbox.ordersOf(referenceId);
      await world.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
      expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { orders, sent, issued, received } = await judge(world, referenceId);
      expect({ orders, sent }).toEqual({ orders: 1, sent: 1 });
      expect(received).toEqual(issued);
      expect(received).toHaveLength(2);
      expect(await hands.brokenTasks()).toEqual([]);
    },
    60_000,
  );

  it.concurrent.each(OPERATIONS)(
    'deliverEvent to a checkout that answers 500, %s, delivers the same event once the checkout takes it',
    async (_, operate) => {
      const referenceId = world.reference();
      silent.add(referenceId);
      await world.buy({ 'demo-instant': 2 }, referenceId);
      const hands = handsOn(world, referenceId);
      await hands.pending('deliverEvent', 2);

      await operate(hands, 'deliverEvent');
      silent.delete(referenceId);

      expect(await hands.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { issued, received } = await judge(world, referenceId);
      expect(received).toEqual(issued);
      const ids = world.receiver.attempts
        .filter(({ body }) => body.data.referenceId === referenceId)
        .map(({ id }) => id);
      expect(new Set(ids).size).toBe(1);
    },
    60_000,
  );

  // After all of the above: Jest runs the tests that are not concurrent last.
  it('no event ever came with other keys or other words under its id', () => {
    expect(world.receiver.attempts.length).toBeGreaterThan(10);
    expect(world.receiver.contradictions).toEqual([]);
  });
});
