import { type Client, type WorkflowExecutionDescription, WorkflowFailedError } from '@temporalio/client';
import type { HoldNotice, PurchaseResult, ReceivedEvent } from '../contracts/public-types';
import { deliveryMemo, holdIn, purchaseMemo } from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { createPurchaseReader, epochMsOf, grpcErrorOf, type PurchaseReader } from '../temporal/client';

/** What waits in a purchase right now: an activity between two attempts, or in one. */
export interface PendingWork {
  activity: string;
  activityId: string;
  attempt: number;
  /** In words; made by our activities, so it holds no key. */
  lastAnswer?: string | undefined;
  /** ISO 8601. */
  nextAttempt?: string | undefined;
  /** A person has paused it; nothing goes on until a person unpauses it. */
  paused?: boolean | undefined;
}

/** An event that the checkout has, or that is on its way to it. */
export interface DeliveryStatus {
  type: string;
  eventId?: string | undefined;
  at?: string | undefined;
  state: 'RECEIVED' | 'ON_ITS_WAY' | 'FAILED';
}

/** Where a purchase stands. */
export interface PurchaseStatus {
  referenceId: string;
  workflowId: string;
  runId: string;
  /** See `PurchaseState`; `STARTED` before a worker has begun, and how it ended if that was without a result. */
  state: string;
  /** The workflow's own status: RUNNING, COMPLETED, FAILED, TERMINATED … */
  execution: string;
  orderId?: string | undefined;
  startedAt: string;
  closedAt?: string | undefined;
  hold?: HoldNotice | undefined;
  pending: PendingWork[];
  deliveries: DeliveryStatus[];
  /** Why what was delivered after the end is not among `deliveries`: it could not be listed. */
  deliveriesUnlisted?: string | undefined;
  /** A worker is to take the next step, since this moment (ISO 8601). If it stays, no worker runs or the workers fail. */
  waitsForWorkerSince?: string | undefined;
  taskQueue: string;
  result?: PurchaseResult | undefined;
  /** Why there is no result, of a purchase that was terminated or never was one. */
  failure?: string | undefined;
}

/** What `status` of the library does. @throws WorkflowNotFoundError */
export async function statusOf(client: Client, referenceId: string): Promise<PurchaseStatus> {
  const purchases = createPurchaseReader(client);
  const [description, later] = await Promise.all([
    purchases.describe(referenceId),
    deliveredLater(purchases, referenceId),
  ]);
  const { workflowId, runId, raw, typedSearchAttributes: attributes } = description;
  const execution = description.status.name;
  const running = execution === 'RUNNING';
  const shown = attributes.get(PURCHASE_STATE);
  return {
    referenceId,
    workflowId,
    runId,
    // What a purchase showed last says nothing once it was ended from outside.
    state: running || execution === 'COMPLETED' ? (shown ?? 'STARTED') : execution,
    execution,
    orderId: attributes.get(PARTNER_ORDER_ID),
    startedAt: description.startTime.toISOString(),
    closedAt: description.closeTime?.toISOString(),
    hold: running ? holdIn(description.memo) : undefined,
    pending: pendingWork(description),
    deliveries: [...received(purchaseMemo.safeParse(description.memo ?? {}).data?.events), ...later.deliveries],
    deliveriesUnlisted: later.unlisted,
    waitsForWorkerSince: running && raw.pendingWorkflowTask ? timeOf(raw.pendingWorkflowTask.scheduledTime) : undefined,
    taskQueue: description.taskQueue,
    ...(running ? {} : await endOf(purchases, { workflowId, runId })),
  };
}

async function endOf(
  purchases: PurchaseReader,
  run: { workflowId: string; runId: string },
): Promise<Pick<PurchaseStatus, 'result' | 'failure'>> {
  try {
    return { result: (await purchases.result(run)) as PurchaseResult };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { failure: error.cause?.message ?? error.message };
  }
}

function pendingWork(description: WorkflowExecutionDescription): PendingWork[] {
  return (description.raw.pendingActivities ?? []).map((activity) => ({
    activity: activity.activityType?.name ?? '',
    activityId: activity.activityId ?? '',
    attempt: activity.attempt ?? 1,
    lastAnswer: activity.lastFailure?.message ?? undefined,
    nextAttempt: timeOf(activity.nextAttemptScheduleTime),
    paused: activity.paused || undefined,
  }));
}

function received(events: readonly ReceivedEvent[] = []): DeliveryStatus[] {
  return events.map(({ id, type, at }) => ({ type, eventId: id, at, state: 'RECEIVED' }));
}

/**
 * What was delivered after the end, by workflows of its own, oldest first. Where lists do not work (search attributes that are not
 * registered, a visibility store that is away) all else is still worth showing. Lists lag a little.
 */
async function deliveredLater(
  purchases: PurchaseReader,
  referenceId: string,
): Promise<{ deliveries: DeliveryStatus[]; unlisted?: string }> {
  const found: DeliveryStatus[][] = [];
  try {
    for await (const delivery of purchases.listDeliveries(`${REFERENCE_ID.name} = '${referenceId}'`)) {
      const { events } = deliveryMemo.safeParse(delivery.memo ?? {}).data ?? {};
      const at = delivery.startTime.toISOString();
      const state = delivery.status.name === 'RUNNING' ? 'ON_ITS_WAY' : 'FAILED';
      found.push(events ? received(events) : [{ type: 'redelivery', at, state }]);
    }
    return { deliveries: found.toReversed().flat() };
  } catch (error) {
    const said = grpcErrorOf(error);
    if (!said) throw error;
    return { deliveries: [], unlisted: said.details };
  }
}

function timeOf(time: Parameters<typeof epochMsOf>[0]): string | undefined {
  const at = epochMsOf(time);
  return at > 0 ? new Date(at).toISOString() : undefined;
}
