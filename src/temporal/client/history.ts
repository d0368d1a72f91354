import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { DeliveryReceipt, DeliveryRequest } from '../../contracts/checkout-events';
import { ACTIVITY } from '../../contracts/names';

/** An event that a workflow handed to the delivery, with the receipt if the checkout took it. */
export interface SentEvent {
  request: DeliveryRequest;
  receipt?: DeliveryReceipt;
}

interface Run {
  workflowId: string;
  runId: string;
}

/** Reads with what a workflow was started from the first event of its history, whoever started it. */
export async function readStartInput(client: Client, { workflowId, runId }: Run): Promise<unknown> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input;
}

/**
 * Reads from a workflow's history what it told the checkout, word for word: an event that is repeated must be the same
 * to the last letter. Oldest first.
 */
export async function sentEvents(client: Client, { workflowId, runId }: Run): Promise<SentEvent[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const converter = client.options.loadedDataConverter;
  const told = new Map<string, SentEvent>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === ACTIVITY.deliverEvent) {
      const [request] = await decodeArrayFromPayloads(converter, scheduled.input?.payloads);
      told.set(String(event.eventId), { request: request as DeliveryRequest });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const before = completed && told.get(String(completed.scheduledEventId));
    if (before) {
      const [receipt] = await decodeArrayFromPayloads(converter, completed.result?.payloads);
      before.receipt = receipt as DeliveryReceipt;
    }
  }
  return [...told.values()];
}
