import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { startReconciliationEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

it('a reconciliation that is cancelled while the partner hangs ends CANCELLED, repairs nothing, and leaves everything to the next', async () => {
  const env = await startReconciliationEnvironment();
  const overdue = await env.buy({ 'demo-never': 1 });
  expect((await env.starter.result(overdue)).outcome).toBe('OVERDUE');
  const [order] = await env.sandbox.ordersOf(overdue);
  await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
  await env.untilListed("PurchaseState = 'OVERDUE'", 1);

  const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  const { workflow } = env.client;
  const handle = await workflow.start(RECONCILE_WORKFLOW, {
    workflowId: 'cancelled',
    taskQueue: env.taskQueue,
    args: [{}],
  });
  await waitUntil('it reads the history', () => hanging.hits > 0);
  await handle.cancel();

  await expect(handle.result()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) });
  expect((await handle.describe()).status.name).toBe('CANCELLED');
  expect((await env.audit(overdue)).received).toEqual([]);

  env.sandbox.clearFaults();
  expect(await env.reconcile()).toMatchObject({ findings: { LATE: 1 }, repaired: 1 });
  await waitUntil('the late keys have come', () => env.eventTypes(overdue).includes('purchase.late_delivery'));
  const { issued, received } = await env.audit(overdue);
  expect(received).toEqual(issued);
}, 120_000);
