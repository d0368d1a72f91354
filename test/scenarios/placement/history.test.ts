import type { Fault } from '../../../sandbox';
import { operatorOf } from '../../support/operator';
import {
  type PurchaseFault,
  sharedEnvironment,
  startTestEnvironment,
  type TestEnvironment,
} from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { INSTANT, type PurchaseRun, runPurchase } from './run-purchase';

const LOST: PurchaseFault = { operation: 'place', when: 'after', action: { type: 'reset' } };
const NOTHING = { hits: 0, orders: [], pages: { page: 1, total: 0, limit: 500 } };
/** A search for the order finds nothing. */
const MISSED: PurchaseFault = {
  operation: 'orders',
  when: 'after',
  times: 'always',
  action: { type: 'merge', data: NOTHING },
};
const NOT_BOUGHT: PurchaseFault = { operation: 'place', action: { type: 'answer', status: 500 } };

it('keeps searching an unreadable history far longer than the confirmation window, and does not hold the purchase', async () => {
  const env = await startTestEnvironment({ pastOrders: 1_100 });
  const action = { type: 'answer', status: 503 } as const;
  const unreadable: PurchaseFault = { operation: 'orders', nth: 2, times: 15, action };
  const runs = [LOST, NOT_BOUGHT].map((fault) => runPurchase(env, [fault, unreadable]));
  const [lost, refused] = await Promise.all(runs);

  expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
  expect(refused).toMatchObject({ state: 'DELIVERED', requests: 2 });
});

describe('an order that appears late, but within the confirmation window', () => {
  // A found order ends the confirmation, so no test here waits for the whole window.
  const env = sharedEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 10_000 } });

  it.each<[string, number, PurchaseFault[]]>([
    ['is waited for when the history lags, and not placed again', 4, [{ ...NOT_BOUGHT, when: 'after' }]],
    [
      'is adopted when the list shows it and the search finds only other orders',
      0,
      [{ ...NOT_BOUGHT, when: 'after' }, MISSED],
    ],
    [
      'is waited for when the partner books it after the first searches',
      0,
      [{ ...NOT_BOUGHT, commit: { type: 'late', historyRequests: 4 } }],
    ],
  ])('%s', async (_, historyLagRequests, faults) => {
    env.sandbox.settings({ historyLagRequests });
    const late = await runPurchase(env, faults);
    env.sandbox.settings({ historyLagRequests: 0 });

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });
});

it('adopts an order booked during a search that outlasts the confirmation window, because that search began too early', async () => {
  const settings = { confirmWindowMs: 2_000, partnerTimeoutMs: 8_000 };
  const env = await startTestEnvironment({ pastOrders: 5, settings });
  const [newest] = (await env.partner.listOrders()).data.orders;
  // Searches share one reading of the newest orders for a twentieth of the window. The second reading is slow.
  const action = { type: 'delay', ms: 2_500 } as const;
  const slow = env.sandbox.addFault({ operation: 'orders', nth: 2, referenceId: newest?.referenceId, action });
  const referenceId = env.reference();
  const lost: PurchaseFault = { operation: 'place', action: { type: 'reset' } };
  const run = runPurchase(env, [lost], INSTANT, referenceId);
  await waitUntil('a search is slow', () => slow.hits > 0);
  await env.orderByHand(INSTANT, referenceId);
  const late = await run;

  expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
  expect(late.received).toEqual(late.issued);
});

it.concurrent.each<[string, (env: TestEnvironment) => Promise<PurchaseRun>, requests: number, past: number, string]>([
  ['an order has an id that could change a URL path', runWithUnusableId, 0, 5, "has an id that can't be used"],
  ['it does not find an order that exists', runWithBrokenSearch, 1, 5, 'does not find an order that is known to exist'],
  ['it is empty', (env) => runPurchase(env, [NOT_BOUGHT]), 1, 0, 'empty, which proves nothing'],
])('holds a purchase when the history proves no absence because %s', async (_, run, requests, past, explanation) => {
  const settings = { confirmWindowMs: 200, placeWithinMs: 2_000 };
  const purchase = await run(await startTestEnvironment({ pastOrders: past, settings }));
  expect(purchase).toMatchObject({ state: 'HELD', requests, orders: [] });
  expect(purchase.status.hold?.explanation).toContain(explanation);
});

async function runWithUnusableId(env: TestEnvironment): Promise<PurchaseRun> {
  const reference_id = env.reference();
  const orders = [{ id: '../../admin', reference_id, status: 'PENDING', created_at: '2026-01-01T00:00:00Z' }];
  return runPurchase(env, [{ ...MISSED, action: { type: 'merge', data: { hits: 1, orders } } }], INSTANT, reference_id);
}

async function runWithBrokenSearch(env: TestEnvironment): Promise<PurchaseRun> {
  for (const { referenceId } of (await env.partner.listOrders()).data.orders) {
    env.sandbox.addFault({ ...MISSED, referenceId } as Fault);
  }
  return runPurchase(env, [NOT_BOUGHT]);
}

it('holds a purchase before it sends anything when an unreadable row may be its order, but not after a decision', async () => {
  const env = await startTestEnvironment({ settings: { confirmWindowMs: 200, placeWithinMs: 1_000 } });
  const referenceId = env.reference();
  await env.orderByHand({ 'demo-instant': 1 }, referenceId);
  await env.changeOrder(referenceId, { shownRow: { status: null } });
  await env.buy({ 'demo-instant': 1 }, referenceId);
  const operator = operatorOf(env, referenceId);

  const hold = await operator.held('PLACEMENT_UNKNOWN');
  expect(hold.explanation).toContain("can't be read");
  expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  await operator.resolve('replace');

  expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
  expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
});

it('does not hold a purchase for an unreadable row without a reference, even when the partner ignores searches', async () => {
  const env = await startTestEnvironment({ sandbox: { search: 'ignored' } });
  const other = env.reference();
  await env.orderByHand({ 'demo-instant': 1 }, other);
  await env.changeOrder(other, { shownRow: { reference_id: null, status: null } });

  for (const { state, requests } of await Promise.all([1, 2, 3].map(() => runPurchase(env)))) {
    expect({ state, requests }).toEqual({ state: 'DELIVERED', requests: 1 });
  }
});
