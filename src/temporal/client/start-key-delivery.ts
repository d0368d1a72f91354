import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowHandle } from '@temporalio/client';
import type { KeyDelivery } from '../../contracts/activities';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../../contracts/names';
import type { DeliveryMemo } from '../../contracts/purchase';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import { summaryOf } from '../../domain/markdown';
import { createPurchaseReader, type PurchaseRun } from './purchase-reader';

/** A delivery that was started, or the one that is running already. */
export type KeyDeliveryStart = { started: WorkflowHandle } | { running: PurchaseRun | undefined };

/**
 * Starts the delivery of keys after the end of a purchase, unless one of this reference is running: two at once would not
 * know of each other, and a key could go out under two ids. The server holds that, by the workflow id.
 *
 * @param memo what lists show of it.
 */
export async function startKeyDelivery(
  client: Client,
  taskQueue: string,
  delivery: Omit<KeyDelivery, 'previousRunId'>,
  { memo = {}, summary }: { memo?: DeliveryMemo; summary: string },
): Promise<KeyDeliveryStart> {
  const { referenceId } = delivery;
  const { latestDelivery } = createPurchaseReader(client);
  const previous = await latestDelivery(referenceId);
  const input: KeyDelivery = { ...delivery, previousRunId: previous?.runId };
  try {
    const started = await client.workflow.start(DELIVER_WORKFLOW, {
      workflowId: deliverWorkflowId({ referenceId }),
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      memo: { ...memo },
      typedSearchAttributes: [{ key: REFERENCE_ID, value: referenceId }],
      staticSummary: summaryOf(summary),
    });
    return { started };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { running: await latestDelivery(referenceId) };
  }
}
