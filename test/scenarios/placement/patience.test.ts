import type { World } from '../../support/world';
import { play, type Played, searchesFor, seen, startPartnerWorld, type Trouble, until, untilTold } from './play';

type Action = NonNullable<Trouble['action']>;

const UNREADABLE: [string, Action][] = [
  ['401', { type: 'answer', status: 401 }],
  ['404, as a wrong prefix gives', { type: 'answer', status: 404 }],
  ['503', { type: 'answer', status: 503 }],
  ['429 and a long pause', { type: 'answer', status: 429, headers: { 'retry-after': '3600' } }],
  ['a close', { type: 'close' }],
  ['a page of HTML', { type: 'body', text: '<h1>Login</h1>' }],
  ['success: false', { type: 'unsuccessful' }],
];
const ACCESS = [401, 403, 404, 405];

describe('what was surely not bought is tried again, for a time', () => {
  let world: World;
  let played: Map<string | number, Played>;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { placeWithinMs: 3_000 } });
    const always = { times: 'always' } as const;
    const cases: [string | number, Trouble][] = [
      ...UNREADABLE.map(([seen, action]): [string, Trouble] => [seen, { operation: 'orders', ...always, action }]),
      ...ACCESS.map((status): [number, Trouble] => [
        status,
        { operation: 'place', ...always, action: { type: 'answer', status } },
      ]),
    ];
    played = await playAll(world, cases);
  });
  afterAll(() => world.close());

  it.each(UNREADABLE)('sends no order at all while the history answers with %s, and ends NOT_PLACED', (answer) => {
    const purchase = played.get(answer);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0, orders: [] });
    expect(purchase?.events.map(({ type }) => type)).toEqual(['purchase.not_placed']);
  });

  it.each(ACCESS)('ends NOT_PLACED and not REJECTED when every order is met with %i', (status) => {
    const purchase = played.get(status);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', orders: [] });
    expect(purchase?.requests).toBeGreaterThanOrEqual(1);
  });

  it('gives up rather than ask sooner than the history wants to be asked', () => {
    const { referenceId = '' } = played.get('429 and a long pause') ?? {};
    expect(searchesFor(world, referenceId)).toBe(1);
  });
});

describe('the pace of the partner', () => {
  const GARBAGE = ['soon', '-5', '9e9'];
  let world: World;
  let played: Map<string, Played>;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { settleMs: 200 } });
    const refused: Action = { type: 'answer', status: 401 };
    const later = (seconds: string): Action => ({ type: 'answer', status: 429, headers: { 'retry-after': seconds } });
    played = await playAll(world, [
      ['not bought', { operation: 'place', action: later('7') }],
      ['bought', { operation: 'place', when: 'after', action: later('7') }],
      ['refused', { operation: 'place', action: refused }, { operation: 'orders', nth: 2, times: 12, action: refused }],
      ...GARBAGE.map((value): [string, Trouble] => [value, { operation: 'place', action: later(value) }]),
    ]);
  });
  afterAll(() => world.close());

  it.each([
    ['not bought', 2],
    ['bought', 1],
  ])('asks nothing before the Retry-After is over, whether or not it was bought (%s)', async (name, requests) => {
    const purchase = played.get(name);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests });
    expect(purchase?.orders).toHaveLength(1);
    const steps = await stepsOf(world, purchase?.referenceId ?? '');
    expect(steps.slice(0, 3)).toEqual(['placeOrder', 'timer 7 s', 'findOrders']);
  });

  it.each(GARBAGE)('takes no notice of the Retry-After %j', async (value) => {
    const purchase = played.get(value);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    const steps = await stepsOf(world, purchase?.referenceId ?? '');
    expect(steps.slice(0, 2)).toEqual(['placeOrder', 'findOrders']);
  });

  it('asks no person when the key goes wrong between the look and the order, but waits for the history', () => {
    const purchase = played.get('refused');
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    expect(purchase?.orders).toHaveLength(1);
    expect(purchase?.events.map(({ type }) => type)).toEqual(['purchase.delivered']);
  });
});

it('places once when a rotated key is right again, and loses no sale of that night', async () => {
  const world = await startPartnerWorld();
  world.sandbox.settings({ apiKeys: ['rotated'] });
  const references = await Promise.all([1, 2, 3].map(() => world.buy({ 'demo-instant': 1 })));
  await until(() => references.every((reference) => searchesFor(world, reference) > 0));
  world.sandbox.settings({ apiKeys: ['sandbox-key'] });
  await Promise.all(references.map((reference) => untilTold(world, reference)));

  const purchases = await Promise.all(references.map((reference) => seen(world, reference)));
  for (const purchase of purchases) expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1 });
  await world.close();
});

/** Plays all at the same time. */
async function playAll<Name>(world: World, cases: [Name, ...Trouble[]][]): Promise<Map<Name, Played>> {
  return new Map(
    await Promise.all(cases.map(async ([name, ...troubles]) => [name, await play(world, troubles)] as const)),
  );
}

/** The activities and timers of a purchase, in the order in which its workflow asked for them. */
async function stepsOf(world: World, referenceId: string): Promise<string[]> {
  const { events } = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timer = event.timerStartedEventAttributes?.startToFireTimeout;
    if (timer) return [`timer ${Number(timer.seconds ?? 0)} s`];
    return event.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
}
