import { historyOf } from '../../support/history';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { LENIENT, type PurchaseFault, purchaseOf, runPurchase, untilNotified } from './run-purchase';

describe('the good case', () => {
  let env: TestEnvironment;

  beforeEach(async () => {
    env = await startTestEnvironment({ pastOrders: 5, settings: LENIENT });
  });
  afterEach(() => env.close());

  it('costs one search and one order, one poll and one reading of the keys, and no activity more', async () => {
    const { state, referenceId } = await runPurchase(env);

    expect(state).toBe('DELIVERED');
    expect(env.sandbox.requests()).toMatchObject({ place: 1, orders: 1, keys: 2, products: 0, unknown: 0 });
    const operations = env.sandbox.log().map(({ operation }) => operation);
    expect(operations.indexOf('orders')).toBeLessThan(operations.indexOf('place'));
    const { activities } = await historyOf(env, referenceId);
    expect(activities).toEqual(['local readSettings', 'placeOrder', 'local pollOrder', 'local deliverSale']);
  });

  it('is not stopped by the purchases of others that can come to no end', async () => {
    const always = { times: 'always' } as const;
    const poisons: PurchaseFault[] = [
      { operation: 'orders', ...always, action: { type: 'body', text: '{"details":' } },
      { operation: 'orders', ...always, action: { type: 'hang' } },
      { operation: 'place', ...always, action: { type: 'answer', status: 401 } },
      { operation: 'place', ...always, when: 'after', action: { type: 'merge', data: { id: '\u0000' } } },
    ];
    const poisoned = poisons.map((fault) => {
      const referenceId = env.reference('POISON');
      env.sandbox.addFault({ ...fault, referenceId });
      return env.buy({ 'demo-never': 1 }, referenceId);
    });
    await Promise.all(poisoned);
    await waitUntil('each of them has searched', () => env.sandbox.requests().orders >= poisons.length);
    const references = await Promise.all([1, 2, 3, 4, 5].map(() => env.buy({ 'demo-instant': 1 })));
    await Promise.all(references.map((reference) => untilNotified(env, reference)));

    for (const reference of references) expect(await purchaseOf(env, reference)).toMatchObject({ state: 'DELIVERED' });
    for (const reference of await Promise.all(poisoned)) {
      expect(await purchaseOf(env, reference)).toMatchObject({ status: { execution: 'RUNNING' } });
    }
  });
});
