import { deliverWorkflowId, purchaseWorkflowId } from '../../../src/contracts/names';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const OPEN = { 'demo-never': 2 };

describe('a workflow of another type under the id of a purchase', () => {
  let env: TestEnvironment;
  beforeAll(async () => {
    env = await startReconciliationEnvironment();
  });

  /** Nobody runs it. */
  const startForeign = (workflowId: string) =>
    env.client.workflow.start('PurchaseWorkflow', { workflowId, taskQueue: 'nobody' });

  it('hides neither the purchase from the commands nor its order from the reconciliation', async () => {
    const { referenceId, orderId } = await env.opened(OPEN);
    await env.handleOf(referenceId).terminate();
    await env.untilListed("WorkflowType = 'purchaseWorkflow' AND ExecutionStatus = 'Terminated'", 1);
    await startForeign(purchaseWorkflowId(referenceId));
    const orphan = env.reference();
    await startForeign(purchaseWorkflowId(orphan));
    await env.orderByHand(OPEN, orphan);
    await env.changeOrder(referenceId, { status: 'COMPLETED' });

    expect(await env.starter.status(referenceId)).toMatchObject({ workflowStatus: 'TERMINATED', orderId });
    await expect(env.starter.resolve(referenceId, { decision: 'withhold' })).rejects.toThrow('ended as TERMINATED');
    const again = env.starter.purchase({ referenceId, items: [{ productId: 'demo-never', quantity: 2 }] });
    expect(await again).toMatchObject({ started: false });

    const { findings, repaired } = await env.reconcile();
    expect({ findings, repaired }).toEqual({ findings: { LOST: 1, ORPHAN: 1 }, repaired: 1 });
    await waitUntil('its keys are received', async () => (await env.audit(referenceId)).received.length === 2);
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 1);
    await startForeign(deliverWorkflowId(referenceId));
    await expect(env.starter.redeliver(referenceId)).rejects.toThrow('is running as another type of workflow');
  });

  it('is not taken for a purchase', async () => {
    const referenceId = env.reference();
    await startForeign(purchaseWorkflowId(referenceId));
    const started = env.starter.purchase({ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] });
    await expect(started).rejects.toThrow('workflow type: expected purchaseWorkflow');
    await expect(env.starter.status(referenceId)).rejects.toThrow(referenceId);
  });
});
