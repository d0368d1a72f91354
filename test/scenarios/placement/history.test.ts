import type { Fault } from '../../../sandbox';
import { operatorOf } from '../../support/operator';
import { sharedEnvironment, startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { INSTANT, LENIENT, type PurchaseFault, type PurchaseRun, runPurchase } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };
const NOTHING = { hits: 0, orders: [], pages: { page: 1, total: 0, limit: 500 } };
const NOT_BOUGHT: PurchaseFault = { operation: 'place', action: { type: 'answer', status: 500 } };

describe('the order history shows what became of a lost answer', () => {
  const env = sharedEnvironment({ pastOrders: 1_100, settings: LENIENT });
  afterEach(() => env.sandbox.settings({ search: 'exact', historyOrder: 'newest', historyShift: 0 }));

  it.each(['newest', 'oldest'] as const)(
    'finds the order by scanning where the search is ignored and the %s come first, and never sends a second one',
    async (historyOrder) => {
      env.sandbox.settings({ search: 'ignored', historyOrder, historyShift: 7 });
      const [lost, refused] = await Promise.all([runPurchase(env, [LOST]), runPurchase(env, [NOT_BOUGHT])]);

      expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
      expect(lost.received).toEqual(lost.issued);
      expect(refused).toMatchObject({ state: 'DELIVERED', requests: 2 });
      expect(refused.orders).toHaveLength(1);
    },
  );

  it('is searched on while it can not be read, far longer than an order settles, and nobody is asked', async () => {
    const unreadable: PurchaseFault = {
      ...{ operation: 'orders', nth: 2, times: 15 },
      action: { type: 'answer', status: 503 },
    };
    const [lost, refused] = await Promise.all([
      runPurchase(env, [LOST, unreadable]),
      runPurchase(env, [NOT_BOUGHT, unreadable]),
    ]);

    expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(refused).toMatchObject({ state: 'DELIVERED', requests: 2 });
  });

  it('never adopts the order of another reference that a fuzzy search brings up', async () => {
    env.sandbox.settings({ search: 'fuzzy' });
    const reference = env.reference();
    const other = await runPurchase(env, [], INSTANT, `${reference}0`);
    const [ours, lost] = await Promise.all([
      runPurchase(env, [{ ...LOST, when: 'before' }], INSTANT, reference),
      runPurchase(env, [LOST]),
    ]);

    expect(ours).toMatchObject({ state: 'HELD', orders: [], received: [], requests: 1 });
    expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(other.received).toEqual(other.issued);
  });
});

describe('an order that shows up late, but within the settling time', () => {
  // Found orders end the settling, so that nothing here waits for all of it.
  const env = sharedEnvironment({ pastOrders: 5, settings: { ...LENIENT, confirmWindowMs: 10_000 } });

  it('is waited for when the history lags, instead of being placed again', async () => {
    env.sandbox.settings({ historyLagRequests: 4 });
    const late = await runPurchase(env, [{ ...NOT_BOUGHT, when: 'after' }]);
    env.sandbox.settings({ historyLagRequests: 0 });

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });

  it('is adopted where the list shows it and the search does not, though that finds other orders', async () => {
    const missed: PurchaseFault = {
      operation: 'orders',
      when: 'after',
      times: 'always',
      action: { type: 'merge', data: NOTHING },
    };
    const listed = await runPurchase(env, [{ ...NOT_BOUGHT, when: 'after' }, missed]);

    expect(listed).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(listed.orders).toHaveLength(1);
  });

  it('is waited for when the partner books it only after the first searches', async () => {
    const late = await runPurchase(env, [{ ...NOT_BOUGHT, commit: { type: 'late', historyRequests: 4 } }]);

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });
});

it('an order that shows up while a search takes longer than the settling time is adopted: the search looked before it', async () => {
  const settings = { ...LENIENT, confirmWindowMs: 2_000, partnerTimeoutMs: 8_000 };
  const env = await startTestEnvironment({ pastOrders: 5, settings });
  const [newest] = (await env.partner.listOrders()).data.orders;
  // The second search asks for the order of the purchase, for the newest orders, and for the newest: the sixth request since the 409.
  const slow: Fault = { operation: 'orders', nth: 2, action: { type: 'delay', ms: 2_500 } };
  env.sandbox.addFault({ ...slow, referenceId: newest?.referenceId });
  const late = await runPurchase(env, [
    { operation: 'place', action: { type: 'answer', status: 409 }, commit: { type: 'late', historyRequests: 6 } },
  ]);

  expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
  expect(late.received).toEqual(late.issued);
});

describe('a history that shows nothing absent leads to a hold and not to a second order', () => {
  let unusable: PurchaseRun;
  let broken: PurchaseRun;
  let empty: PurchaseRun;

  beforeAll(async () => {
    const settings = { ...LENIENT, confirmWindowMs: 200, placeWithinMs: 2_000 };
    const [one, two, three] = await Promise.all([
      startTestEnvironment({ pastOrders: 5, settings }),
      startTestEnvironment({ pastOrders: 5, settings }),
      startTestEnvironment({ settings }),
    ]);
    [unusable, broken, empty] = await Promise.all([
      runWithUnusableId(one),
      runWithBrokenSearch(two),
      runPurchase(three, [NOT_BOUGHT]),
    ]);
  });

  it('because an order of this reference bears an id that could change a path: it exists, so none is sent', () => {
    expect(unusable).toMatchObject({ state: 'HELD', requests: 0, orders: [] });
    expect(unusable.status.hold?.explanation).toContain("under an id that can't be used");
  });

  it('because an order known to exist is not found by the same query', () => {
    expect(broken).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
    expect(broken.status.hold?.explanation).toContain('does not find an order known to exist');
  });

  it('because it is empty, which proves nothing', () => {
    expect(empty).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
    expect(empty.status.hold?.explanation).toContain('empty, which proves nothing');
  });
});

async function runWithUnusableId(env: TestEnvironment): Promise<PurchaseRun> {
  const reference_id = env.reference();
  const orders = [{ id: '../../admin', reference_id, status: 'PENDING', created_at: '2026-01-01T00:00:00Z' }];
  const action = { type: 'merge', data: { hits: 1, orders } } as const;
  return runPurchase(env, [{ operation: 'orders', when: 'after', times: 'always', action }], INSTANT, reference_id);
}

async function runWithBrokenSearch(env: TestEnvironment): Promise<PurchaseRun> {
  for (const { referenceId } of (await env.partner.listOrders()).data.orders) {
    env.sandbox.addFault({
      ...{ operation: 'orders', when: 'after', times: 'always', referenceId },
      action: { type: 'merge', data: NOTHING },
    });
  }
  return runPurchase(env, [NOT_BOUGHT]);
}

it('a row that may be the order and can not be read holds a purchase before it sends anything, and not after a decision', async () => {
  const env = await startTestEnvironment({ settings: { ...LENIENT, confirmWindowMs: 200, placeWithinMs: 1_000 } });
  const referenceId = env.reference();
  const { id } = await env.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-instant', quantity: 1 }] });
  await env.sandbox.changeOrder(id, { shownRow: { status: null } });
  await env.buy({ 'demo-instant': 1 }, referenceId);
  const operator = operatorOf(env, referenceId);

  const hold = await operator.held('PLACEMENT_UNKNOWN');
  expect(hold.explanation).toContain("can't be read");
  expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  await operator.resolve('replace');

  expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
  expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
});
