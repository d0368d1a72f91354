import fc from 'fast-check';
import { operatorOf } from '../../support/operator';
import {
  type PurchaseFault,
  sharedEnvironment,
  startTestEnvironment,
  type TestEnvironment,
} from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { waitForOutcomeOrHold, type PurchaseRun, runPurchase } from './run-purchase';

/** A placeholder for the purchase's own reference in a generated response. */
const OURS = '<our reference>';
const AT_ONCE = 25;

const nasty = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(OURS, '', '..', '../../admin', '__proto__', '\u0000', 'a'.repeat(300_000)),
  fc.constantFrom('COMPLETED', 'FAILED', 'AAAA-BBBB-CCCC', '2026-01-01T00:00:00Z'),
  fc.constantFrom(null, -1, 0, 1, 500, 2 ** 53, 1e300),
);
const mostly = <T>(plain: T) => fc.oneof({ arbitrary: fc.constant(plain), weight: 3 }, { arbitrary: nasty, weight: 1 });

const historyRow = fc.record(
  { id: nasty, reference_id: mostly(OURS), status: mostly('PENDING'), created_at: mostly('2026-01-01T00:00:00Z') },
  { requiredKeys: [] },
);
const historyPage = fc.record({
  hits: mostly(1),
  // Never simply empty: nothing can detect a partner that denies an order it has accepted.
  orders: fc.array(historyRow, { minLength: 1, maxLength: 3 }),
  pages: fc.record({ page: mostly(1), total: mostly(1), limit: mostly(500) }),
});
const envelope = (data: fc.Arbitrary<unknown>) =>
  fc.record({ status: mostly(200), success: mostly(true), details: fc.record({ data }) });
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  envelope(fc.oneof(nasty, historyPage, fc.record({ id: nasty }))).map((whole) => JSON.stringify(whole)),
  envelope(historyPage).map((whole) => JSON.stringify(whole).slice(0, -7)),
  fc.constant('{"status":200,"success":true,"details":{"data":{"total_debit":1e999}}}'),
);

const action: fc.Arbitrary<NonNullable<PurchaseFault['action']>> = fc.oneof(
  { arbitrary: text.map((words) => ({ type: 'body', text: words }) as const), weight: 4 },
  fc.record({ type: fc.constant('answer' as const), status: fc.integer({ min: 200, max: 599 }), body: text }),
  fc.record({ type: fc.constant('truncate' as const), bytes: fc.nat(400) }),
  fc.constantFrom({ type: 'unsuccessful' } as const, { type: 'reset' } as const),
);
const merged = fc
  .dictionary(fc.constantFrom('id', 'status', 'total_debit', 'balance', 'hits', 'pages'), nasty)
  .map((data) => ({ type: 'merge', data }) as const);

const fault: fc.Arbitrary<PurchaseFault> = fc.oneof(
  fc.record({
    operation: fc.constantFrom('place' as const, 'orders' as const),
    action,
    when: fc.constantFrom('before', 'after'),
  }),
  fc.record({
    operation: fc.constantFrom('place' as const, 'keys' as const, 'orders' as const),
    action: fc.oneof(action, merged),
    when: fc.constant('after' as const),
  }),
);
/** The faults of one purchase. Each affects a few early calls only, so the purchase can end. */
const faults = fc.array(
  fc
    .tuple(fault, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }))
    .map(([one, nth, times]): PurchaseFault => ({ ...one, nth, times })),
  { minLength: 1, maxLength: 4 },
);
const NOTHING_TO_DO = ['NOT_PLACED', 'REJECTED', 'CANCELLED'];

describe('hostile responses from the partner', () => {
  const env = sharedEnvironment({
    pastOrders: 5,
    settings: { deadlineMs: 2_500, placeWithinMs: 8_000, confirmWindowMs: 300 },
  });

  it('never make a purchase buy twice, deliver a key that is not its own, or fail a workflow task', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(faults, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (scripts) => {
        const purchases = await Promise.all(scripts.map((script) => runHostile(env, script)));
        for (const purchase of purchases) {
          expect(purchase.orders.length).toBeLessThanOrEqual(NOTHING_TO_DO.includes(purchase.state) ? 0 : 1);
          expect(purchase.issued).toEqual(expect.arrayContaining(purchase.received));
          expect(new Set(purchase.received).size).toBe(purchase.received.length);
          expect(['COMPLETED', 'RUNNING']).toContain(purchase.status.workflowStatus);
          expect(await operatorOf(env, purchase.referenceId).brokenTasks()).toEqual([]);
        }
      }),
      // Shrinking takes minutes and the seed is printed, so it is switched off.
      { numRuns: 2, endOnFailure: true },
    );
  });
});

it('purchases that cannot end do not block other purchases', async () => {
  const env = await startTestEnvironment({ pastOrders: 5 });
  const poisons: PurchaseFault[] = [
    { operation: 'orders', action: { type: 'body', text: '{"details":' } },
    { operation: 'orders', action: { type: 'hang' } },
    { operation: 'place', action: { type: 'answer', status: 401 } },
    { operation: 'place', when: 'after', action: { type: 'merge', data: { id: '\u0000' } } },
  ];
  const always = { times: 'always' } as const;
  const start = (fault: PurchaseFault) => env.buyFacing([{ ...fault, ...always }], { 'demo-never': 1 });
  const poisoned = await Promise.all(poisons.map(start));
  await waitUntil('each of them has searched', () => env.sandbox.requests().orders >= poisons.length);

  for (const referenceId of await env.buyMany(5)) {
    expect(await waitForOutcomeOrHold(env, referenceId)).toMatchObject({ state: 'DELIVERED' });
  }
  for (const referenceId of poisoned) {
    expect(await env.starter.status(referenceId)).toMatchObject({ workflowStatus: 'RUNNING' });
  }
});

async function runHostile(env: TestEnvironment, script: readonly PurchaseFault[]): Promise<PurchaseRun> {
  const referenceId = env.reference();
  const named = JSON.parse(JSON.stringify(script).replaceAll(OURS, referenceId)) as PurchaseFault[];
  return runPurchase(env, named, { 'demo-instant': 2 }, referenceId);
}
