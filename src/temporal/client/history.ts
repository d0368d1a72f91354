import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { arrayFromPayloads, type Payload } from '@temporalio/common';
import type { KeyDelivery, OrderPlaced, PolledOrder, WorkerSettings } from '../../contracts/activities';
import {
  type DeliveryReceipt,
  type DeliveryRequest,
  fingerprintsOf,
  isDeliveryReceipt,
} from '../../contracts/checkout-events';
import { eventIdOf } from '../../contracts/event-id';
import { ACTIVITY, DELIVER_WORKFLOW } from '../../contracts/names';
import { toleratingUndecodable } from '../../contracts/payload-converter';
import { firstPollAt } from '../../contracts/purchase';
import { GRPC_STATUS, grpcErrorOf } from './grpc-error';

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

/** Reads a workflow's argument from the first event of its history, whoever started it. @throws WorkflowNotFoundError */
export async function readStartInput(client: Client, run: Run): Promise<unknown> {
  const { workflowId, runId } = run;
  const { namespace } = client.options;
  const first = { namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
  const { history } = await client.workflowService
    .getWorkflowExecutionHistory(first)
    .catch((error: unknown) => refuse(error, run));
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const [input] = await decode(client, started?.input?.payloads);
  return input;
}

/**
 * What a local delivery may have handed over without a trace. The result of a local activity is on record only when its workflow
 * task has ended: one that was begun and never completed may have delivered before its worker died, or was given up.
 */
export interface UntracedDelivery {
  orderId: string;
  /** ISO 8601: when it happened, as that event said. */
  at: string;
  /** Of the secret that made the fingerprints. */
  fingerprintSecretId: string;
}

/** What a run handed to the delivery, oldest first, and what else it may have handed over. */
export interface Deliveries {
  sent: SentEvent[];
  /** Absent where an event with keys is on record. */
  untraced?: UntracedDelivery;
  /** Of a delivery after the end of a purchase: the one before it, by what it was started with. */
  previousRunId?: string;
}

/**
 * Reads from a run's history what it handed to the delivery, word for word: an event that is repeated must be the same to
 * the last letter. An event that was sent twice stands there twice.
 *
 * @throws WorkflowNotFoundError when the server no longer keeps the run.
 */
export async function readDeliveries(client: Client, run: Run): Promise<Deliveries> {
  const { events } = await client.workflow
    .getHandle(run.workflowId, run.runId)
    .fetchHistory()
    .catch((error: unknown) => refuse(error, run));
  const reading = new HistoryReading(client);
  for (const event of events ?? []) await reading.add(event);
  return reading.deliveries();
}

/** As the SDK does elsewhere: of a history it leaves what the server says as it is. */
function refuse(error: unknown, { workflowId, runId }: Run): never {
  const said = grpcErrorOf(error);
  if (said?.code === GRPC_STATUS.NOT_FOUND) throw new WorkflowNotFoundError(said.details, workflowId, runId);
  throw error;
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** Goes through a history once. */
class HistoryReading {
  private readonly sent: SentEvent[] = [];
  private readonly pending = new Map<string, { activity: string; event: SentEvent | undefined }>();
  private worker: Partial<WorkerSettings> = {};
  private placed: Partial<OrderPlaced> | undefined;
  private polledAt: string | undefined;
  private isTaskOpen = false;
  /** Since the order was placed, a workflow task was begun that did not end. */
  private isInterrupted = false;
  private previousRunId: string | undefined;

  constructor(private readonly client: Client) {}

  async add(event: HistoryEvent): Promise<void> {
    await this.addStart(event);
    await this.addActivity(event);
    await this.addLocalActivity(event);
    this.addWorkflowTask(event);
  }

  deliveries(): Deliveries {
    const hasKeys = this.sent.some(({ request }) => fingerprintsOf(request).length > 0);
    const isInterrupted = this.isInterrupted || this.isTaskOpen;
    const untraced = isInterrupted && !hasKeys ? this.untraced() : undefined;
    return { sent: this.sent, untraced, previousRunId: this.previousRunId };
  }

  private untraced(): UntracedDelivery | undefined {
    const { orderId, placedAt } = this.placed ?? {};
    const { settings, fingerprintSecretId } = this.worker;
    if (orderId === undefined || fingerprintSecretId === undefined || !settings) return undefined;
    const at = this.polledAt ?? (placedAt === undefined ? undefined : firstPollAt(placedAt, settings));
    return at === undefined ? undefined : { orderId, at, fingerprintSecretId };
  }

  /** Whoever starts a delivery may name anything as the one before. */
  private async addStart({ workflowExecutionStartedEventAttributes: started }: HistoryEvent): Promise<void> {
    if (started?.workflowType?.name !== DELIVER_WORKFLOW) return;
    const [input] = (await decode(this.client, started.input?.payloads)) as [Partial<KeyDelivery> | null | undefined];
    const runId: unknown = input?.previousRunId;
    if (typeof runId === 'string' && RUN_ID.test(runId)) this.previousRunId = runId;
  }

  private async addActivity(event: HistoryEvent): Promise<void> {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const name = scheduled?.activityType?.name ?? '';
    if (name === ACTIVITY.deliverEvent) {
      const [request] = (await decode(this.client, scheduled?.input?.payloads)) as [DeliveryRequest];
      const sent = { id: eventIdOf(request), request, received: false };
      this.sent.push(sent);
      this.pending.set(String(event.eventId), { activity: name, event: sent });
    } else if (name === ACTIVITY.placeOrder || name === ACTIVITY.awaitOrderChange || name === ACTIVITY.getOrder) {
      this.pending.set(String(event.eventId), { activity: name, event: undefined });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const before = completed && this.pending.get(String(completed.scheduledEventId));
    if (!before) return;
    const [result] = (await decode(this.client, completed.result?.payloads)) as [Partial<AnyResult> | undefined];
    if (before.event) before.event.received = isDeliveryReceipt(result);
    else if (before.activity === ACTIVITY.placeOrder) this.addPlacement(result);
    else this.polledAt = result?.polledAt ?? undefined;
  }

  private addPlacement(result: Partial<AnyResult> | undefined): void {
    this.placed = result?.evidence === 'PLACED' ? result : undefined;
    this.isInterrupted = false;
  }

  private async addLocalActivity({ markerRecordedEventAttributes: marker }: HistoryEvent): Promise<void> {
    if (marker?.markerName !== LOCAL_ACTIVITY) return;
    const { data, result } = marker.details ?? {};
    const name = localActivityNameOf(data?.payloads?.[0]);
    if (name !== ACTIVITY.readSettings && name !== ACTIVITY.deliverEvent) return;
    const [value] = (await decode(this.client, result?.payloads)) as [
      (WorkerSettings & Partial<DeliveryReceipt>) | undefined,
    ];
    if (name === ACTIVITY.readSettings) this.worker = value ?? {};
    else if (value?.request) {
      const { request } = value;
      this.sent.push({ id: eventIdOf(request), request, received: isDeliveryReceipt(value) });
    }
  }

  private addWorkflowTask(event: HistoryEvent): void {
    if (event.workflowTaskStartedEventAttributes) this.isTaskOpen = true;
    if (event.workflowTaskCompletedEventAttributes) this.isTaskOpen = false;
    if (!event.workflowTaskTimedOutEventAttributes && !event.workflowTaskFailedEventAttributes) return;
    this.isInterrupted ||= this.isTaskOpen;
    this.isTaskOpen = false;
  }
}

/** The server refuses to look for another. */
const RUN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type AnyResult = OrderPlaced & PolledOrder & DeliveryReceipt;

/** How the SDK's core calls the event that holds the result of a local activity, and beside it, in plain JSON, what it was. */
const LOCAL_ACTIVITY = 'core_local_activity';

function localActivityNameOf(payload: Payload | undefined): string | undefined {
  if (!payload?.data) return undefined;
  return (JSON.parse(Buffer.from(payload.data).toString('utf8')) as { activity_type?: string }).activity_type;
}

async function decode(client: Client, payloads: Payload[] | null | undefined): Promise<unknown[]> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let decoded = payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return arrayFromPayloads(toleratingUndecodable(payloadConverter), decoded);
}
