import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { OrderPlaced, PlaceOrderInput } from '../../contracts/activities';
import { toleratingUndecodable } from '../../contracts/payload-converter';
import { PARTNER_ORDER_ID } from '../../contracts/search-attributes';
import { isSafeOrderId } from '../../domain/order';
import type { SaleEvent } from '../../domain/plan-delivery';
import { GRPC_STATUS, grpcErrorOf } from './grpc';

/** One run of a workflow. A reset ends a run and starts another. */
export interface Run {
  workflowId: string;
  runId: string;
}

/**
 * Reads the input from the first event of the history.
 * @throws WorkflowNotFoundError
 */
export async function readStartInput(client: Client, { workflowId, runId }: Run): Promise<unknown> {
  const first = { namespace: client.options.namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
  const { history } = await client.workflowService.getWorkflowExecutionHistory(first).catch((error: unknown) => {
    // The SDK does the same for all other calls.
    const grpcError = grpcErrorOf(error);
    if (grpcError?.code === GRPC_STATUS.NOT_FOUND)
      throw new WorkflowNotFoundError(grpcError.details, workflowId, runId);
    throw error;
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return firstOf(client, started?.input?.payloads);
}

/** @returns undefined if the server no longer has the run, or the run never placed an order. */
export async function readRecordedSecretId(client: Client, run: Run): Promise<string | undefined> {
  for await (const input of activityInputs<PlaceOrderInput>(client, run, 'placeOrder')) {
    if (typeof input?.fingerprintSecretId === 'string') return input.fingerprintSecretId;
  }
  return undefined;
}

/** @returns the types of the events about the sale that a run tried to send, except by a local activity */
export async function readSentEvents(client: Client, run: Run): Promise<string[]> {
  const types: string[] = [];
  for await (const event of activityInputs<SaleEvent>(client, run, 'deliverSale')) {
    if (typeof event?.type === 'string') types.push(event.type);
  }
  return types;
}

/** The inputs with which a run scheduled activities of this type, undecodable ones included. */
async function* activityInputs<T>(client: Client, run: Run, type: string): AsyncGenerator<Partial<T> | undefined> {
  for (const { activityTaskScheduledEventAttributes: scheduled } of scheduledIn(await readEvents(client, run), type)) {
    yield (await firstOf(client, scheduled?.input?.payloads)) as Partial<T> | undefined;
  }
}

type HistoryEvent = Awaited<ReturnType<typeof readEvents>>[number];

/** The events that scheduled activities of this type. */
function scheduledIn(events: readonly HistoryEvent[], type: string): HistoryEvent[] {
  return events.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === type);
}

/**
 * @returns the last order id that the workflow's own code wrote. If it was stopped before it wrote any, the id that its
 *   placement returned. Undefined if there is neither
 */
export async function readRecordedOrderId(client: Client, run: Run): Promise<string | undefined> {
  const events = await readEvents(client, run);
  const written = events.flatMap(
    ({ upsertWorkflowSearchAttributesEventAttributes: upsert }) =>
      upsert?.searchAttributes?.indexedFields?.[PARTNER_ORDER_ID.name] ?? [],
  );
  const last = written.at(-1);
  const { payloadConverter } = client.options.loadedDataConverter;
  if (last) return [payloadConverter.fromPayload<string | string[]>(last)].flat()[0];
  const ids = new Set(scheduledIn(events, 'placeOrder').map(({ eventId }) => String(eventId)));
  for (const { activityTaskCompletedEventAttributes: completed } of events.toReversed()) {
    if (!completed || !ids.has(String(completed.scheduledEventId))) continue;
    const result = (await firstOf(client, completed.result?.payloads)) as Partial<OrderPlaced> | undefined;
    if (result?.evidence === 'PLACED' && isSafeOrderId(result.orderId ?? '')) return result.orderId;
  }
  return undefined;
}

/** @returns no events if the server no longer has the run */
async function readEvents(client: Client, { workflowId, runId }: Run) {
  const { events } = await client.workflow
    .getHandle(workflowId, runId)
    .fetchHistory()
    .catch((error: unknown) => {
      if (grpcErrorOf(error)?.code === GRPC_STATUS.NOT_FOUND) return { events: [] };
      throw error;
    });
  return events ?? [];
}

async function firstOf(client: Client, payloads: Payload[] | null | undefined): Promise<unknown> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let decoded = payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  const [first] = decoded;
  return first && toleratingUndecodable(payloadConverter).fromPayload(first);
}
