import { type Client, type WorkflowExecutionDescription, WorkflowFailedError } from '@temporalio/client';
import { deliverWorkflowId, STATUS_QUERY } from '../contracts/names';
import type {
  CurrentWait,
  Hold,
  KnownEvent,
  OtherText,
  PurchaseResult,
  ReceivedEvent,
  StateAfterEnd,
} from '../contracts/public-types';
import { deliveryMemo, holdIn, purchaseMemo, waitIn } from '../contracts/purchase';
import { anyOf } from '../contracts/purchase-queries';
import { PARTNER_ORDER_ID } from '../contracts/search-attributes';
import { isSafeOrderId } from '../domain/order';
import { toSingleLine } from '../domain/text-format';
import { createPurchaseReader, epochMsOf, grpcErrorOf, type PurchaseReader } from '../temporal/client';
import { afterEndOf } from './after-end';
import { type CurrentState, type WorkflowStatus, workflowStateOf } from './current-state';

/** How long a worker has to say what an unconfirmed purchase is waiting for. */
const WORKER_RESPONSE_TIMEOUT_MS = 3_000;
const MAX_TEXT_LENGTH = 200;

/** A pending activity of a purchase: running, or waiting for its next attempt. */
export interface PendingActivity {
  /** Its type, such as `pollUntilEnded`. */
  activity: string;
  activityId: string;
  /** The number of the attempt, from 1. */
  attempt: number;
  /** What the last attempt reported: what it saw, or why it failed. Never contains a key. */
  lastMessage?: string | undefined;
  /** When the next attempt starts, ISO 8601. */
  nextAttempt?: string | undefined;
  /** It stays paused until an operator unpauses it. */
  pausedByOperator?: boolean | undefined;
}

/** An event that the checkout has received, or a delivery that is in progress or failed. */
export interface DeliveryStatus {
  /** The type of the event, or `redelivery` for a delivery after the end that has sent nothing yet. */
  type: KnownEvent['type'] | 'redelivery' | OtherText;
  eventId?: string | undefined;
  /** When the event was received, or when the delivery started, ISO 8601. */
  at?: string | undefined;
  state: 'RECEIVED' | 'IN_PROGRESS' | 'FAILED';
}

/** The current state of a purchase. Read `state`, and `result` once it has ended; the rest is detail. */
export interface PurchaseStatus {
  referenceId: string;
  workflowId: string;
  runId: string;
  /**
   * The current state. After a late delivery, it is the new state; `result` still says how the purchase ended. After
   * `REFUNDED`, `afterEnd.delivered` says whether keys were delivered before.
   */
  state: CurrentState;
  workflowStatus: WorkflowStatus;
  /** The partner's id of the order, once it is known. */
  orderId?: string | undefined;
  /** ISO 8601. */
  startedAt: string;
  /** ISO 8601; absent while it is running. */
  endedAt?: string | undefined;
  /** Present while the state is `HELD`. */
  hold?: Hold | undefined;
  /** Why a PAUSED or UNCONFIRMED purchase is waiting. Absent if no worker responded within 3 s. */
  explanation?: string | undefined;
  /** What a PAUSED or UNCONFIRMED purchase is waiting for, and until when. Absent if no worker responded within 3 s. */
  waitsFor?: CurrentWait | undefined;
  /** Whether a cancel was requested while it is running. */
  cancelRequested?: boolean | undefined;
  /** What the purchase is doing now. */
  pendingActivities: PendingActivity[];
  /** The events that the checkout has received, then the deliveries after the end, oldest first. */
  deliveries: DeliveryStatus[];
  /** Why late deliveries could not be listed and are missing from `deliveries`. */
  deliveriesError?: string | undefined;
  /** What the newest delivery after the end of the purchase changed. */
  afterEnd?: StateAfterEnd | undefined;
  /** Since when the next step has waited for a worker, ISO 8601. If it persists, no worker is running or all fail. */
  waitsForWorkerSince?: string | undefined;
  /** Where it looks for a worker. */
  taskQueue: string;
  /** How it ended; absent while it is running. */
  result?: PurchaseResult | undefined;
  /** Why there is no result: the purchase was terminated, or its input was invalid. */
  failure?: string | undefined;
}

/**
 * @throws WorkflowNotFoundError
 * @internal
 */
export async function statusOf(client: Client, referenceId: string): Promise<PurchaseStatus> {
  const purchases = createPurchaseReader(client);
  const [description, later] = await Promise.all([
    purchases.describe(referenceId),
    listLateDeliveries(purchases, referenceId),
  ]);
  const { workflowId, runId, raw, typedSearchAttributes: attributes } = description;
  const workflowStatus = description.status.name;
  const running = workflowStatus === 'RUNNING';
  const workflowState = workflowStateOf(description);
  const endedAt = description.closeTime?.toISOString();
  // A purchase that was reset has a new end, or none yet.
  const afterEnd = endedAt !== undefined && (later.afterEnd?.at ?? '') > endedAt ? later.afterEnd : undefined;
  const orderId = attributes.get(PARTNER_ORDER_ID);
  const waitsForWorkerSince =
    running && raw.pendingWorkflowTask ? timeOf(raw.pendingWorkflowTask.scheduledTime) : undefined;
  return {
    referenceId,
    workflowId,
    runId,
    state: afterEnd?.state ?? workflowState,
    workflowStatus,
    // Any client can write the search attributes and the memo.
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    startedAt: description.startTime.toISOString(),
    endedAt,
    hold: running ? holdIn(description.memo) : undefined,
    ...(running && isAsked(workflowState) ? await askWorkflow(client, { workflowId, runId }) : {}),
    cancelRequested: (running && raw.workflowExtendedInfo?.cancelRequested) || undefined,
    // A terminated workflow still shows the activities that it had.
    pendingActivities: running ? pendingActivities(description) : [],
    deliveries: [...toDeliveries(purchaseMemo.safeParse(description.memo ?? {}).data?.events), ...later.deliveries],
    deliveriesError: later.unlisted,
    afterEnd,
    waitsForWorkerSince,
    taskQueue: toSafeText(description.taskQueue),
    ...(running ? {} : await endOf(purchases, { workflowId, runId })),
  };
}

function isAsked(state: string): boolean {
  return state === 'PAUSED' || state === 'UNCONFIRMED';
}

/** Only the workflow knows why and how long it waits, so a worker must run the query. */
async function askWorkflow(
  client: Client,
  { workflowId, runId }: Run,
): Promise<Pick<PurchaseStatus, 'explanation' | 'waitsFor'> | undefined> {
  const ask = () => client.workflow.getHandle(workflowId, runId).query<unknown>(STATUS_QUERY);
  const response = await client.withDeadline(Date.now() + WORKER_RESPONSE_TIMEOUT_MS, ask).catch(() => undefined);
  return waitIn(response);
}

type Run = Pick<PurchaseStatus, 'workflowId' | 'runId'>;

async function endOf(purchases: PurchaseReader, run: Run): Promise<Pick<PurchaseStatus, 'result' | 'failure'>> {
  try {
    return { result: (await purchases.result(run)) as PurchaseResult };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { failure: error.cause?.message ?? error.message };
  }
}

function pendingActivities(description: WorkflowExecutionDescription): PendingActivity[] {
  return (description.raw.pendingActivities ?? []).map((activity) => ({
    activity: toSafeText(activity.activityType?.name ?? ''),
    activityId: toSafeText(activity.activityId ?? ''),
    attempt: activity.attempt ?? 1,
    lastMessage: activity.lastFailure?.message ?? undefined,
    nextAttempt: timeOf(activity.nextAttemptScheduleTime),
    pausedByOperator: activity.paused || undefined,
  }));
}

function toDeliveries(events: readonly ReceivedEvent[] = []): DeliveryStatus[] {
  return events.map(({ id, type, at }) => ({
    type: toSafeText(type),
    eventId: toSafeText(id),
    at: toSafeText(at),
    state: 'RECEIVED',
  }));
}

function toSafeText(text: string): string {
  return toSingleLine(text, MAX_TEXT_LENGTH);
}

/**
 * Lists the deliveries after the end, oldest first. Each is a separate workflow. If the list fails (search attributes
 * not registered, visibility store down), the rest of the status is still returned. Lists lag by about a second.
 */
async function listLateDeliveries(
  purchases: PurchaseReader,
  referenceId: string,
): Promise<{ deliveries: DeliveryStatus[]; afterEnd?: StateAfterEnd; unlisted?: string }> {
  const found: DeliveryStatus[][] = [];
  let afterEnd: StateAfterEnd | undefined;
  try {
    for await (const delivery of purchases.listDeliveries(anyOf('WorkflowId', [deliverWorkflowId(referenceId)]))) {
      const { events } = deliveryMemo.safeParse(delivery.memo ?? {}).data ?? {};
      const at = delivery.startTime.toISOString();
      const { name } = delivery.status;
      const state = name === 'RUNNING' ? 'IN_PROGRESS' : 'FAILED';
      // A delivery that had nothing to send completes without events.
      const isShown = events !== undefined || name === 'COMPLETED';
      found.push(isShown ? toDeliveries(events) : [{ type: 'redelivery', at, state }]);
      // The newest comes first.
      afterEnd ??= afterEndOf(delivery);
    }
    return { deliveries: found.toReversed().flat(), afterEnd };
  } catch (error) {
    const grpcError = grpcErrorOf(error);
    if (!grpcError) throw error;
    return { deliveries: [], unlisted: grpcError.details };
  }
}

function timeOf(time: Parameters<typeof epochMsOf>[0]): string | undefined {
  const at = epochMsOf(time);
  return at > 0 ? new Date(at).toISOString() : undefined;
}
