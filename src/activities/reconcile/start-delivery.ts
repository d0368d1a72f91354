import type { Client } from '@temporalio/client';
import type { DeliveryRequest } from '../../contracts/checkout-events';
import type { DeliveryMemo } from '../../contracts/purchase';
import { startEventDelivery } from '../../temporal/client';

/** What became of an event that was to be delivered. `before`: another run had started it already. */
export type Started = 'now' | 'before' | 'failed-before';

/**
 * Starts the delivery of one event without keys: once, however many reconciliations run, and however often one begins again.
 *
 * @param notifiedOf the `findingKey` of the finding that it notifies of.
 */
export async function startDelivery(
  { client, taskQueue, runId }: { client: Client; taskQueue: string; runId: string },
  request: DeliveryRequest,
  notifiedOf: string,
): Promise<Started> {
  const memo: DeliveryMemo = { reconciledBy: runId, notifiedOf };
  const { referenceId } = request;
  const summary = `${request.type} of ${referenceId}, by a reconciliation`;
  const start = await startEventDelivery(client, taskQueue, request, { summary, memo, referenceId });
  if (!start.startedBefore) return 'now';
  const { status } = await client.workflow.getHandle(start.workflowId).describe();
  return status.name === 'RUNNING' || status.name === 'COMPLETED' ? 'before' : 'failed-before';
}
