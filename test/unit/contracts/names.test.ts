import {
  deliverWorkflowId,
  purchaseWorkflowId,
  referenceIdOfWorkflow,
  referenceOfWorkflow,
  resolveUpdateId,
} from '../../../src/contracts/names';

test('a workflow id leads back to its reference, also where that begins like a workflow id', () => {
  for (const reference of ['SALE-1', 'purchase-1', 'deliver-1']) {
    expect(referenceIdOfWorkflow(purchaseWorkflowId(reference))).toBe(reference);
    expect(referenceOfWorkflow(purchaseWorkflowId(reference))).toBe(reference);
    expect(referenceOfWorkflow(deliverWorkflowId(reference))).toBe(reference);
  }
  expect(referenceOfWorkflow('nightly-reconciliation')).toBeUndefined();
});

test('the same decision on the same hold is one update, unless it names an order: that may not have been readable before', () => {
  const same = resolveUpdateId({ hold: 'h', decision: 'abandon' });
  expect(resolveUpdateId({ hold: 'h', decision: 'abandon' })).toBe(same);
  expect(resolveUpdateId({ hold: 'h', decision: 'replace' })).not.toBe(same);
  expect(resolveUpdateId({ hold: 'i', decision: 'abandon' })).not.toBe(same);
  expect(resolveUpdateId({ hold: 'h', decision: 'order', orderId: 'o-1' })).toBeUndefined();
});
