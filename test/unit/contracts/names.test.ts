import {
  deliverWorkflowId,
  eventIdOfWorkflow,
  purchaseWorkflowId,
  referenceIdOfWorkflow,
  resolveUpdateId,
} from '../../../src/contracts/names';

test('a workflow id leads back to its reference or event, also where that begins like a workflow id', () => {
  expect(referenceIdOfWorkflow(purchaseWorkflowId('purchase-1'))).toBe('purchase-1');
  expect(eventIdOfWorkflow(deliverWorkflowId({ eventId: 'evt_1' }))).toBe('evt_1');
  expect(eventIdOfWorkflow(deliverWorkflowId({ referenceId: 'evt-1' }))).toBeUndefined();
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
