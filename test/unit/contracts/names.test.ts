import {
  deliverWorkflowId,
  purchaseWorkflowId,
  referenceOfPurchase,
  referenceOfWorkflow,
  resolveUpdateId,
} from '../../../src/contracts/names';

test('a workflow id yields its reference, even if the reference itself begins like a workflow id', () => {
  for (const reference of ['SALE-1', 'purchase-1', 'deliver-1']) {
    expect(referenceOfPurchase(purchaseWorkflowId(reference))).toBe(reference);
    expect(referenceOfPurchase(deliverWorkflowId(reference))).toBeUndefined();
    expect(referenceOfWorkflow(purchaseWorkflowId(reference))).toBe(reference);
    expect(referenceOfWorkflow(deliverWorkflowId(reference))).toBe(reference);
  }
  expect(referenceOfWorkflow('nightly-reconciliation')).toBeUndefined();
});

test('repeating a decision on a hold is one update, except if it names an order, which may have been unreadable before', () => {
  const same = resolveUpdateId({ hold: 'h', decision: 'abandon' });
  expect(resolveUpdateId({ hold: 'h', decision: 'abandon' })).toBe(same);
  expect(resolveUpdateId({ hold: 'h', decision: 'replace' })).not.toBe(same);
  expect(resolveUpdateId({ hold: 'i', decision: 'abandon' })).not.toBe(same);
  expect(resolveUpdateId({ hold: 'h', decision: 'order', orderId: 'o-1' })).toBeUndefined();
});
