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

test('the same decision on the same hold is one update, and any other is another', () => {
  const same = [1, 2].map(() => resolveUpdateId({ hold: 'h', decision: 'abandon' }));
  expect(new Set(same).size).toBe(1);
  expect(same).not.toContain(resolveUpdateId({ hold: 'h', decision: 'replace' }));
  expect(same).not.toContain(resolveUpdateId({ hold: 'i', decision: 'abandon' }));
});

test('an order that is named again is another update, because it may not have been readable before', () => {
  expect(resolveUpdateId({ hold: 'h', decision: 'order', orderId: 'o-1' })).toBeUndefined();
});
