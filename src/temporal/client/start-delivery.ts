import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import type { DeliverInput } from '../../contracts/activities';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../../contracts/names';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import { summaryOf } from '../../domain/text-format';

/** Starts `deliverWorkflow` for an ended purchase on its task queue, or returns the one that is already running. */
export function startDelivery(
  client: Client,
  taskQueue: string,
  input: DeliverInput,
  summary: string,
): Promise<WorkflowHandle> {
  const { referenceId } = input;
  return client.workflow.start(DELIVER_WORKFLOW, {
    workflowId: deliverWorkflowId(referenceId),
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: [{ key: REFERENCE_ID, value: referenceId }],
    staticSummary: summaryOf(summary),
  });
}

/** Why no late delivery can start: any client can start another type of workflow under its id. */
export function blocksDeliveries({ type, status, workflowId }: WorkflowExecutionDescription): string | undefined {
  if (status.name !== 'RUNNING' || type === DELIVER_WORKFLOW) return undefined;
  return `${workflowId} is running as another type of workflow, so nothing can be delivered: terminate it`;
}
