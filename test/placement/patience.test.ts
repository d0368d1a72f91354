import type { World } from '../support/world';
import { play, seen, startPartnerWorld, type Trouble, untilTold } from './play';

const ALWAYS = { times: 'always' } as const;

describe('what was surely not bought is tried again, for a time', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { placeWithinMs: 3_000 } });
  });
  afterAll(() => world.close());

  it.each([
    ['401', { type: 'answer', status: 401 }],
    ['404, as a wrong prefix gives', { type: 'answer', status: 404 }],
    ['503', { type: 'answer', status: 503 }],
    ['a close', { type: 'close' }],
    ['a page of HTML', { type: 'body', text: '<h1>Login</h1>' }],
    ['success: false', { type: 'unsuccessful' }],
  ] as const)('sends no order at all while the history answers with %s, and ends NOT_PLACED', async (_, action) => {
    const purchase = await play(world, [{ operation: 'orders', ...ALWAYS, action }]);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.not_placed']);
  });

  it.each([401, 403, 404, 405])('ends NOT_PLACED and not REJECTED when every order is met with %i', async (status) => {
    const purchase = await play(world, [{ operation: 'place', ...ALWAYS, action: { type: 'answer', status } }]);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 2, orders: [] });
  });

  it('keeps the pace that the history asks for, and gives up if that is longer than it may try', async () => {
    const action = { type: 'answer', status: 429, headers: { 'retry-after': '3600' } } as const;
    const purchase = await play(world, [{ operation: 'orders', ...ALWAYS, action }]);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0 });
    expect(searchesFor(world, purchase.referenceId)).toBe(1);
  });
});

describe('a fault of ours that is mended in time', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { placeWithinMs: 60_000, settleMs: 200 } });
  });
  afterAll(() => world.close());

  it('places once when the key is right again, and loses no sale of that night', async () => {
    world.sandbox.settings({ apiKeys: ['rotated'] });
    const references = await Promise.all([1, 2, 3].map(() => world.buy({ 'demo-instant': 1 })));
    await Promise.all(references.map((reference) => untilSearched(world, reference)));
    world.sandbox.settings({ apiKeys: ['sandbox-key'] });
    await Promise.all(references.map((reference) => untilTold(world, reference)));

    for (const reference of references) {
      expect(await seen(world, reference)).toMatchObject({ state: 'DELIVERED', requests: 1 });
    }
  });

  it('asks no person when the key goes wrong between the look and the order, but waits until the history answers', async () => {
    const refused = { type: 'answer', status: 401 } as const;
    const purchase = await play(world, [
      { operation: 'place', action: refused },
      { operation: 'orders', nth: 2, times: 8, action: refused },
    ]);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    expect(purchase.orders).toHaveLength(1);
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.delivered']);
  });

  it.each(['before', 'after'] as const)(
    'asks the partner nothing before its Retry-After is over (the order was committed: %s)',
    async (when) => {
      const action = { type: 'answer', status: 429, headers: { 'retry-after': '7' } } as const;
      const referenceId = world.reference();
      world.sandbox.addFault({ operation: 'place', referenceId, when, action });
      await world.buy({ 'demo-instant': 1 }, referenceId);
      await untilTold(world, referenceId);

      const purchase = await seen(world, referenceId);
      expect(purchase).toMatchObject({ state: 'DELIVERED', requests: when === 'before' ? 2 : 1 });
      expect(purchase.orders).toHaveLength(1);
      const steps = await stepsOf(world, referenceId);
      expect(steps.slice(0, 3)).toEqual(['placeOrder', 'timer 7 s', 'lookUpOrders']);
    },
  );

  it.each(['garbage', '-5', '9e9'])('takes no notice of the Retry-After %j', async (value) => {
    const action: Trouble['action'] = { type: 'answer', status: 503, headers: { 'retry-after': value } };
    const purchase = await play(world, [{ operation: 'place', action }]);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
  });
});

/** The activities and timers of a purchase, in the order in which its workflow asked for them. */
async function stepsOf(world: World, referenceId: string): Promise<string[]> {
  const { events } = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timer = event.timerStartedEventAttributes?.startToFireTimeout;
    if (timer) return [`timer ${Number(timer.seconds ?? 0)} s`];
    return event.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
}

async function untilSearched(world: World, referenceId: string): Promise<void> {
  while (searchesFor(world, referenceId) === 0) await new Promise((resolve) => setTimeout(resolve, 25));
}

function searchesFor(world: World, referenceId: string): number {
  return world.sandbox.log().filter(({ path }) => path.includes(`query=${referenceId}&`)).length;
}
