import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DeliveryRequest } from '../../contracts/checkout-events';
import { eventIdOf } from '../../contracts/event-id';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../../contracts/names';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import type { LateMemo } from './purchase-lists';

/** What became of an event that was to be delivered. `before`: another run had started it already. */
export type Started = 'now' | 'before' | 'failed-before';

/**
 * Starts the delivery of one event under the id of the event. The server refuses a second one for as long as it remembers
 * the first: two reconciliations at once, or one that begins again, deliver once.
 */
export async function startDelivery(
  { client, taskQueue, runId }: { client: Client; taskQueue: string; runId: string },
  request: DeliveryRequest,
  reconciled: LateMemo,
): Promise<Started> {
  const workflowId = deliverWorkflowId(eventIdOf(request));
  try {
    await client.workflow.start(DELIVER_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [request],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      memo: { reconciled: { ...reconciled, by: runId } },
      typedSearchAttributes: [{ key: REFERENCE_ID, value: request.referenceId }],
      staticSummary: `${request.type} of ${request.referenceId}, by a reconciliation`,
    });
    return 'now';
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'COMPLETED' ? 'before' : 'failed-before';
  }
}
