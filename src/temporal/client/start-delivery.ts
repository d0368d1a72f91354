import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowHandle } from '@temporalio/client';
import type { KeyDelivery } from '../../contracts/activities';
import type { DeliveryRequest } from '../../contracts/checkout-events';
import { eventIdOf } from '../../contracts/event-id';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../../contracts/names';
import type { DeliveryMemo } from '../../contracts/purchase';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import { summaryOf } from '../../domain/markdown';
import { createPurchaseReader, type PurchaseRun } from './purchase-reader';

/** What lists show of a delivery. */
export interface ShownDelivery {
  summary: string;
  memo?: DeliveryMemo;
  referenceId?: string;
}

/** A delivery that was started, or the one that is running already. */
export type KeyDeliveryStart = { started: WorkflowHandle } | { running: PurchaseRun | undefined };

/**
 * Starts the delivery of one event without keys under the id of the event. The server refuses a second one for as long as it
 * remembers the first: whoever begins again, or comes at the same time, delivers once.
 *
 * @returns the workflow's id, and whether another had started it already.
 */
export async function startEventDelivery(
  client: Client,
  taskQueue: string,
  request: DeliveryRequest,
  shown: ShownDelivery,
): Promise<{ workflowId: string; startedBefore: boolean }> {
  const workflowId = deliverWorkflowId({ eventId: eventIdOf(request) });
  const workflow: DeliveryStart = {
    workflowId,
    taskQueue,
    args: [request],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  };
  const started = await startUnlessThere(client, workflow, shown);
  return { workflowId, startedBefore: started === undefined };
}

/**
 * Starts the delivery of keys after the end of a purchase, unless one of this reference is running: two at once would not
 * know of each other, and a key could go out under two ids. The server holds that, by the workflow id.
 */
export async function startKeyDelivery(
  client: Client,
  taskQueue: string,
  delivery: Omit<KeyDelivery, 'previousRunId'>,
  shown: Omit<ShownDelivery, 'referenceId'>,
): Promise<KeyDeliveryStart> {
  const { referenceId } = delivery;
  const { latestDelivery } = createPurchaseReader(client);
  const previous = await latestDelivery(referenceId);
  const input: KeyDelivery = { ...delivery, previousRunId: previous?.runId };
  const workflowId = deliverWorkflowId({ referenceId });
  const workflow: DeliveryStart = { workflowId, taskQueue, args: [input], workflowIdReusePolicy: 'ALLOW_DUPLICATE' };
  const started = await startUnlessThere(client, workflow, { ...shown, referenceId });
  return started ? { started } : { running: await latestDelivery(referenceId) };
}

interface DeliveryStart {
  workflowId: string;
  taskQueue: string;
  args: [DeliveryRequest | KeyDelivery];
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE';
}

/** @returns undefined where one of this id is there that its reuse policy, or its running, does not let another follow. */
async function startUnlessThere(
  client: Client,
  workflow: DeliveryStart,
  { summary, memo, referenceId }: ShownDelivery,
): Promise<WorkflowHandle | undefined> {
  try {
    return await client.workflow.start(DELIVER_WORKFLOW, {
      ...workflow,
      workflowIdConflictPolicy: 'FAIL',
      memo: memo && { ...memo },
      typedSearchAttributes: referenceId === undefined ? [] : [{ key: REFERENCE_ID, value: referenceId }],
      staticSummary: summaryOf(summary),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}
