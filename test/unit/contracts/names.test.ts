import {
  deliverWorkflowId,
  purchaseWorkflowId,
  referenceOfPurchase,
  referenceOfWorkflow,
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

test('a workflow id that a client has invented yields no reference, because references become part of commands', () => {
  for (const invented of ['', '$(touch x)', 'X;touch', '~root', '-x', 'a b', 'X\n', 'X'.repeat(101)]) {
    expect(referenceOfPurchase(purchaseWorkflowId(invented))).toBeUndefined();
    expect(referenceOfWorkflow(deliverWorkflowId(invented))).toBeUndefined();
  }
});
