import { operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitForOutcomeOrHold } from './run-purchase';

/** 4.99 each. */
const ITEMS = [{ productId: 'demo-instant', quantity: 2 }];
const COST = 9.98;

describe('a purchase with a maximum debit', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: { confirmWindowMs: 200 } });

  it('is placed at exactly that price once the catalogue can be read, and concurrent purchases share one reading', async () => {
    env.sandbox.addFault({ operation: 'products', action: { type: 'answer', status: 503 } });
    const references = Array.from({ length: 5 }, () => env.reference());
    for (const referenceId of references) await env.starter.purchase({ referenceId, items: ITEMS, maxDebit: COST });

    for (const { outcome } of await env.ended(references)) expect(outcome).toBe('DELIVERED');
    // The failed request and three pages.
    expect(env.sandbox.requests().products).toBe(4);
  });

  it.each([
    [
      'costs one cent more',
      ITEMS,
      COST - 0.01,
      'the catalogue price is 9.98, but the maximum for this purchase is 9.97',
    ],
    ['has a product without a price', [{ productId: 'gone', quantity: 1 }], 1_000, 'no price for gone'],
  ])('is not placed when it %s, and ends at once with the reason', async (_, items, maxDebit, reason) => {
    const referenceId = env.reference();
    await env.starter.purchase({ referenceId, items, maxDebit });

    const purchase = await waitForOutcomeOrHold(env, referenceId);
    expect(purchase).toMatchObject({ state: 'NOT_PLACED', requests: 0, orders: [] });
    expect(purchase.status.result?.reason).toContain(reason);
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.not_placed']);
  });

  it('adopts an existing order under its reference, whatever the price is now', async () => {
    const referenceId = env.reference();
    await env.orderByHand({ 'demo-instant': 2 }, referenceId);
    await env.starter.purchase({ referenceId, items: ITEMS, maxDebit: 0 });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  });

  it('is confirmed before it ends after a reset, because the previous run continued', async () => {
    const referenceId = env.reference();
    await env.starter.purchase({ referenceId, items: ITEMS, maxDebit: 1 });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'NOT_PLACED' });
    const operator = operatorOf(env, referenceId);
    await env.orderByHand({ 'demo-instant': 2 }, referenceId);
    // The reset point between the catalogue's response and the query for earlier runs.
    await operator.reset((await operator.points())[1]!);

    // The checkout was told that nothing was bought.
    await operator.held('ORDER_CHANGES');
    await operator.resolve('deliver');
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  });
});
