import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { until } from '../placement/play';
import { startStage } from './stage';

it('one that is cancelled while the partner hangs ends CANCELLED, mends nothing, and leaves everything to the next', async () => {
  const stage = await startStage();
  const overdue = await stage.buy({ 'demo-never': 1 });
  expect((await stage.starter.result(overdue)).outcome).toBe('OVERDUE');
  const [order] = await stage.sandbox.ordersOf(overdue);
  await stage.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
  await stage.untilListed("PurchaseState = 'OVERDUE'", 1);

  const hanging = stage.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  const { workflow } = stage.client;
  const handle = await workflow.start(RECONCILE_WORKFLOW, {
    workflowId: 'cancelled',
    taskQueue: stage.taskQueue,
    args: [{}],
  });
  await until(() => hanging.hits > 0);
  await handle.cancel();

  await expect(handle.result()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) });
  expect((await handle.describe()).status.name).toBe('CANCELLED');
  expect((await stage.keys(overdue)).received).toEqual([]);

  stage.sandbox.clearFaults();
  expect(await stage.reconcile()).toMatchObject({ findings: { LATE: 1 }, mended: 1 });
  const { issued, received } = await stage.keys(overdue);
  expect(received).toEqual(issued);
  await stage.close();
}, 120_000);
