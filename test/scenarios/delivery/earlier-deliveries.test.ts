import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { fingerprintsOf, lateDelivery } from '../../../src/contracts/checkout-events';
import { ACTIVITY, DELIVER_WORKFLOW, deliverWorkflowId } from '../../../src/contracts/names';
import { createPurchaseReader, type PurchaseRun } from '../../../src/temporal/client';
import { sharedEnvironment } from '../../support/test-environment';
import { answerWorkflowTask, scheduleActivity } from '../../support/workflow-task';

describe('what was handed over after the end of a purchase', () => {
  const env = sharedEnvironment({ worker: false });

  /** A delivery of a key that was stopped before a list could show it: it bears no reference to be listed by. */
  async function delivered(referenceId: string, key: string, previousRunId?: string): Promise<PurchaseRun> {
    const { client, taskQueue } = env;
    const workflowId = deliverWorkflowId({ referenceId });
    const args = [{ referenceId, deliver: 'new', previousRunId }];
    const handle = await client.workflow.start(DELIVER_WORKFLOW, { workflowId, taskQueue, args });
    const lines = [{ productId: 'p', quantity: 1, fingerprints: [key] }];
    const event = lateDelivery({ at: new Date().toISOString(), referenceId, orderId: 'O-1', lines });
    await answerWorkflowTask(client, taskQueue, scheduleActivity(ACTIVITY.deliverEvent, taskQueue, event));
    await handle.terminate();
    return { workflowId, runId: handle.firstExecutionRunId };
  }

  it('is known to the last delivery alone, by the one before it: a key that went out twice ago must not go out anew', async () => {
    const referenceId = env.reference();
    // The server never had the one, and refuses to look for the other.
    const first = await delivered(referenceId, 'k.1', randomUUID());
    const second = await delivered(referenceId, 'k.2', first.runId);
    const third = await delivered(referenceId, 'k.3', second.runId);
    const { keyEvents } = createPurchaseReader(env.client);
    const keysOf = async (run: PurchaseRun) =>
      (await keyEvents(referenceId, { also: [run] })).events.flatMap(({ request }) => fingerprintsOf(request));
    expect(await keysOf(third)).toEqual(['k.1', 'k.2', 'k.3']);
    expect(await keysOf(await delivered(referenceId, 'k.4', 'no run'))).toEqual(['k.4']);

    const also = [{ workflowId: third.workflowId, runId: randomUUID() }];
    await expect(keyEvents(referenceId, { also })).rejects.toThrow(WorkflowNotFoundError);
    expect(await keyEvents(referenceId, { also, skipForgotten: true })).toMatchObject({ events: [] });
  });
});
