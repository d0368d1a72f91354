import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DeliveryRequest } from '../contracts/checkout-events';
import { eventIdOf } from '../contracts/event-id';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../contracts/names';
import type { DeliveryMemo } from '../contracts/purchase';
import { REFERENCE_ID } from '../contracts/search-attributes';
import { summaryOf } from '../domain/markdown';

/**
 * Starts the delivery of one event without keys under the id of the event. The server refuses a second one for as long as it
 * remembers the first: whoever begins again, or comes at the same time, delivers once.
 *
 * @param shown `memo` and `referenceId` are what lists show of it.
 * @returns the workflow's id, and whether another had started it already.
 */
export async function startEventDelivery(
  client: Client,
  taskQueue: string,
  request: DeliveryRequest,
  shown: { summary: string; memo?: DeliveryMemo; referenceId?: string },
): Promise<{ workflowId: string; startedBefore: boolean }> {
  const { summary, memo, referenceId } = shown;
  const workflowId = deliverWorkflowId({ eventId: eventIdOf(request) });
  try {
    await client.workflow.start(DELIVER_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [request],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      memo: memo && { ...memo },
      typedSearchAttributes: referenceId === undefined ? [] : [{ key: REFERENCE_ID, value: referenceId }],
      staticSummary: summaryOf(summary),
    });
    return { workflowId, startedBefore: false };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { workflowId, startedBefore: true };
  }
}
