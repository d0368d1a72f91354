import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { until } from '../placement/play';
import { startReconciliationEnvironment } from './environment';

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
  await until(() => hanging.hits > 0);
  await handle.cancel();

  await expect(handle.result()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) });
  expect((await handle.describe()).status.name).toBe('CANCELLED');
  expect((await env.keys(overdue)).received).toEqual([]);

  env.sandbox.clearFaults();
  expect(await env.reconcile()).toMatchObject({ findings: { LATE: 1 }, mended: 1 });
  const { issued, received } = await env.keys(overdue);
  expect(received).toEqual(issued);
  await env.close();
}, 120_000);
