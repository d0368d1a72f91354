import type { Client } from '@temporalio/client';
import { arrayFromPayloads, type Payload } from '@temporalio/common';
import type { DeliveryReceipt, DeliveryRequest } from '../../contracts/checkout-events';
import { eventIdOf } from '../../contracts/event-id';
import { ACTIVITY } from '../../contracts/names';

/** One execution of a workflow: a reset ends a run and begins another of the same workflow. */
export interface Run {
  workflowId: string;
  runId: string;
}

/** An event that a run handed to the delivery. */
export interface SentEvent {
  id: string;
  request: DeliveryRequest;
  /** The checkout has answered with a receipt. */
  received: boolean;
}

/** Reads a workflow's argument from the first event of its history, whoever started it. */
export async function readStartInput(client: Client, { workflowId, runId }: Run): Promise<unknown> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const [input] = await decode(client, started?.input?.payloads);
  return input;
}

/**
 * Reads from a run's history what it handed to the delivery, word for word: an event that is repeated must be the same to
 * the last letter. Oldest first; an event that was sent twice stands there twice.
 *
 * @throws WorkflowNotFoundError when the server no longer keeps the run.
 */
export async function readSentEvents(client: Client, { workflowId, runId }: Run): Promise<SentEvent[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const sent = new Map<string, SentEvent>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === ACTIVITY.deliverEvent) {
      const [request] = (await decode(client, scheduled.input?.payloads)) as [DeliveryRequest];
      sent.set(String(event.eventId), { id: eventIdOf(request), request, received: false });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const before = completed && sent.get(String(completed.scheduledEventId));
    if (before) {
      const [receipt] = (await decode(client, completed.result?.payloads)) as [Partial<DeliveryReceipt> | undefined];
      before.received = receipt?.eventId !== undefined;
    }
  }
  return [...sent.values()];
}

async function decode(client: Client, payloads: Payload[] | null | undefined): Promise<unknown[]> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let decoded = payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return arrayFromPayloads(payloadConverter, decoded);
}
