import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { expectAllKeys } from '../../support/purchase-checks';
import { startReconciliationEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

it('a reconciliation that is cancelled while the partner hangs ends CANCELLED, repairs nothing, and leaves everything to the next', async () => {
  const env = await startReconciliationEnvironment();
  const { referenceId: overdue } = await env.bought({ 'demo-never': 1 });
  await env.changeOrder(overdue, { status: 'COMPLETED' });
  await env.untilListed("PurchaseState = 'OVERDUE'", 1);

  const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  const { client, taskQueue } = env;
  const handle = await client.workflow.start(RECONCILE_WORKFLOW, { workflowId: 'cancelled', taskQueue, args: [{}] });
  await waitUntil('it reads the history', () => hanging.hits > 0);
  await handle.cancel();

  await expect(handle.result()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) });
  expect((await handle.describe()).status.name).toBe('CANCELLED');
  expect((await env.audit(overdue)).received).toEqual([]);

  env.sandbox.clearFaults();
  expect(await env.reconcile()).toMatchObject({ findings: { LATE: 1 }, repaired: 1 });
  await waitUntil('the late keys have come', () => env.eventTypes(overdue).includes('purchase.late_delivery'));
  await expectAllKeys(env, overdue, 1);
}, 120_000);
