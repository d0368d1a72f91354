import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DeliveryRequest } from '../../contracts/checkout-events';
import { eventIdOf } from '../../contracts/event-id';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../../contracts/names';
import type { DeliveryMemo } from '../../contracts/purchase';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import { summaryOf } from '../../domain/markdown';

/** What became of an event that was to be delivered. `before`: another run had started it already. */
export type Started = 'now' | 'before' | 'failed-before';

/**
 * Starts the delivery of one event without keys under the id of the event. The server refuses a second one for as long as it
 * remembers the first: two reconciliations at once, or one that begins again, deliver once.
 *
 * @param notifiedOf the `findingKey` of the finding that it notifies of.
 */
export async function startDelivery(
  { client, taskQueue, runId }: { client: Client; taskQueue: string; runId: string },
  request: DeliveryRequest,
  notifiedOf: string,
): Promise<Started> {
  const workflowId = deliverWorkflowId({ eventId: eventIdOf(request) });
  const memo: DeliveryMemo = { reconciledBy: runId, notifiedOf };
  try {
    await client.workflow.start(DELIVER_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [request],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      memo: { ...memo },
      typedSearchAttributes: [{ key: REFERENCE_ID, value: request.referenceId }],
      staticSummary: summaryOf(`${request.type} of ${request.referenceId}, by a reconciliation`),
    });
    return 'now';
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'COMPLETED' ? 'before' : 'failed-before';
  }
}
