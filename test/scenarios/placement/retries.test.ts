import { sharedEnvironment, startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import {
  LENIENT,
  type PurchaseFault,
  purchaseOf,
  type PurchaseRun,
  runPurchase,
  searchesFor,
  untilNotified,
} from './run-purchase';

type Action = NonNullable<PurchaseFault['action']>;

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
const AN_HOUR = { type: 'answer', status: 503, headers: { 'retry-after': '3600' } } as const;
const LONGER = { type: 'answer', status: 503, headers: { 'retry-after': '3' } } as const;

describe('what was surely not bought is tried again, for a time', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { ...LENIENT, placeWithinMs: 3_000 } });
  let runs: Map<string | number, PurchaseRun>;

  beforeAll(async () => {
    const always = { times: 'always' } as const;
    const cases: [string | number, PurchaseFault][] = [
      ...UNREADABLE.map(([seen, action]): [string, PurchaseFault] => [
        seen,
        { operation: 'orders', ...always, action },
      ]),
      ...ACCESS.map((status): [number, PurchaseFault] => [
        status,
        { operation: 'place', ...always, action: { type: 'answer', status } },
      ]),
      ['back before its pause is over', { operation: 'orders', action: AN_HOUR }],
      ['asked to wait for longer than that', { operation: 'place', action: LONGER }],
      ['asked so each time', { operation: 'place', ...always, action: LONGER }],
    ];
    runs = await runAll(env, cases);
  });

  it.each(UNREADABLE)('sends no order at all while the history answers with %s, and ends NOT_PLACED', (answer) => {
    const purchase = runs.get(answer);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0, orders: [] });
    expect(purchase?.events.map(({ type }) => type)).toEqual(['purchase.not_placed']);
  });

  it.each(ACCESS)('ends NOT_PLACED and not REJECTED when every order is met with %i', (status) => {
    const purchase = runs.get(status);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', orders: [] });
    expect(purchase?.requests).toBeGreaterThanOrEqual(1);
  });

  it('asks no sooner than the history wants to be asked, but for once when the time is over', () => {
    const { referenceId = '' } = runs.get('429 and a long pause') ?? {};
    expect(searchesFor(env, referenceId)).toBe(2);
  });

  it('so buys where the partner asked for an hour, and is back before the time is over', () => {
    expect(runs.get('back before its pause is over')).toMatchObject({ state: 'DELIVERED', requests: 1 });
  });

  it.each([
    ['asked to wait for longer than that', 'DELIVERED'],
    ['asked so each time', 'NOT_PLACED'],
  ])(
    'places once more, and only once, what is shown absent after a pause that outlasted the time (%s)',
    (name, state) => {
      expect(runs.get(name)).toMatchObject({ state, requests: 2 });
    },
  );
});

describe('the pace of the partner', () => {
  const GARBAGE = ['soon', '-5', '9e9'];
  const env = sharedEnvironment({ pastOrders: 5, settings: { ...LENIENT, confirmWindowMs: 200 } });
  let runs: Map<string, PurchaseRun>;

  beforeAll(async () => {
    const refused: Action = { type: 'answer', status: 401 };
    const later = (seconds: string): Action => ({ type: 'answer', status: 429, headers: { 'retry-after': seconds } });
    runs = await runAll(env, [
      ['not bought', { operation: 'place', action: later('7') }],
      ['bought', { operation: 'place', when: 'after', action: later('7') }],
      ['refused', { operation: 'place', action: refused }, { operation: 'orders', nth: 2, times: 12, action: refused }],
      ...GARBAGE.map((value): [string, PurchaseFault] => [value, { operation: 'place', action: later(value) }]),
    ]);
  });

  it.each([
    ['not bought', 2],
    ['bought', 1],
  ])('asks nothing before the Retry-After is over, whether or not it was bought (%s)', async (name, requests) => {
    const purchase = runs.get(name);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests });
    expect(purchase?.orders).toHaveLength(1);
    const steps = await stepsOf(env, purchase?.referenceId ?? '');
    expect(steps.slice(0, 3)).toEqual(['placeOrder', 'timer 7 s', 'findOrders']);
  });

  it.each(GARBAGE)('takes no notice of the Retry-After %j', async (value) => {
    const purchase = runs.get(value);
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    const steps = await stepsOf(env, purchase?.referenceId ?? '');
    expect(steps.slice(0, 2)).toEqual(['placeOrder', 'findOrders']);
  });

  it('asks no person when the key goes wrong between the search and the order, but waits for the history', () => {
    const purchase = runs.get('refused');
    expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 2 });
    expect(purchase?.orders).toHaveLength(1);
    expect(purchase?.events.map(({ type }) => type)).toEqual(['purchase.delivered']);
  });
});

it('places once when a rotated key is right again, and loses no sale of that night', async () => {
  const env = await startTestEnvironment({ pastOrders: 5, settings: LENIENT });
  env.sandbox.settings({ apiKeys: ['rotated'] });
  const references = await Promise.all([1, 2, 3].map(() => env.buy({ 'demo-instant': 1 })));
  await waitUntil('each has searched', () => references.every((reference) => searchesFor(env, reference) > 0));
  env.sandbox.settings({ apiKeys: ['sandbox-key'] });
  await Promise.all(references.map((reference) => untilNotified(env, reference)));

  const purchases = await Promise.all(references.map((reference) => purchaseOf(env, reference)));
  for (const purchase of purchases) expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1 });
});

/** Plays all at the same time. */
async function runAll<Name>(
  env: TestEnvironment,
  cases: [Name, ...PurchaseFault[]][],
): Promise<Map<Name, PurchaseRun>> {
  return new Map(
    await Promise.all(cases.map(async ([name, ...faults]) => [name, await runPurchase(env, faults)] as const)),
  );
}

/** The activities and timers of a purchase, in the order in which its workflow asked for them. */
async function stepsOf(env: TestEnvironment, referenceId: string): Promise<string[]> {
  const { events } = await env.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timer = event.timerStartedEventAttributes?.startToFireTimeout;
    if (timer) return [`timer ${Number(timer.seconds ?? 0)} s`];
    return event.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
}
