import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { DELIVER_WORKFLOW, purchaseWorkflowId } from '../contracts/names';
import type { HoldNotice, PurchaseMemo, PurchaseResult } from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../contracts/search-attributes';

/** What waits in a purchase right now: an activity between two attempts, or in one. */
export interface PendingWork {
  activity: string;
  attempt: number;
  /** In words; made by our activities, so it holds no key. */
  lastAnswer?: string;
  /** ISO 8601. */
  nextAttempt?: string;
  paused?: boolean;
}

/** An event that the checkout has, or that is on its way to it. */
export interface DeliveryStatus {
  type: string;
  eventId?: string;
  at?: string;
  state: 'RECEIVED' | 'ON_ITS_WAY' | 'FAILED';
}

/** Where a purchase stands. */
export interface PurchaseStatus {
  referenceId: string;
  workflowId: string;
  runId: string;
  /** `PLACING`, `UNCONFIRMED`, `HELD`, the partner's status, `DELIVERING` or the outcome; see `PurchaseState`. */
  state: string;
  /** The workflow's own status: RUNNING, COMPLETED, FAILED, TERMINATED … */
  execution: string;
  orderId?: string;
  startedAt: string;
  closedAt?: string;
  hold?: HoldNotice;
  pending: PendingWork[];
  deliveries: DeliveryStatus[];
  result?: PurchaseResult;
}

/** Reads where a purchase stands from the server alone: no worker has to run. @throws WorkflowNotFoundError */
export async function statusOf(client: Client, referenceId: string): Promise<PurchaseStatus> {
  const workflowId = purchaseWorkflowId(referenceId);
  const handle = client.workflow.getHandle(workflowId);
  const description = await handle.describe();
  const memo = (description.memo ?? {}) as PurchaseMemo;
  const execution = description.status.name;
  const ended = execution === 'COMPLETED' ? ((await handle.result()) as PurchaseResult) : undefined;
  const attributes = description.typedSearchAttributes;
  return {
    referenceId,
    workflowId,
    runId: description.runId,
    state: attributes.get(PURCHASE_STATE) ?? (execution === 'RUNNING' ? 'STARTED' : execution),
    execution,
    orderId: attributes.get(PARTNER_ORDER_ID),
    startedAt: description.startTime.toISOString(),
    closedAt: description.closeTime?.toISOString(),
    hold: memo.hold ?? undefined,
    pending: pendingWork(description),
    deliveries: [...receivedBy(memo), ...(await deliveredLater(client, referenceId))],
    result: ended,
  };
}

function pendingWork(description: WorkflowExecutionDescription): PendingWork[] {
  return (description.raw.pendingActivities ?? []).map((activity) => ({
    activity: activity.activityType?.name ?? '',
    attempt: activity.attempt ?? 1,
    lastAnswer: activity.lastFailure?.message ?? undefined,
    nextAttempt: timeOf(activity.nextAttemptScheduleTime),
    paused: activity.paused || undefined,
  }));
}

function receivedBy(memo: PurchaseMemo): DeliveryStatus[] {
  return (memo.events ?? []).map(({ id, type, at }) => ({ type, eventId: id, at, state: 'RECEIVED' }));
}

/** What was delivered after the end, by workflows of its own; lists lag a little. */
async function deliveredLater(client: Client, referenceId: string): Promise<DeliveryStatus[]> {
  const query = `WorkflowType = '${DELIVER_WORKFLOW}' AND ReferenceId = '${referenceId}'`;
  const found: DeliveryStatus[] = [];
  for await (const delivery of client.workflow.list({ query })) {
    const state = delivery.status.name;
    found.push({
      type: delivery.workflowId,
      at: delivery.startTime.toISOString(),
      state: state === 'RUNNING' ? 'ON_ITS_WAY' : state === 'COMPLETED' ? 'RECEIVED' : 'FAILED',
    });
  }
  return found;
}

function timeOf(time: { seconds?: unknown } | null | undefined): string | undefined {
  const seconds = Number(time?.seconds ?? 0);
  return seconds > 0 ? new Date(seconds * 1_000).toISOString() : undefined;
}
