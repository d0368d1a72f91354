import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { CheckoutEvent } from '../../contracts/events';
import { FAILURE } from '../../contracts/failures';
import { RESOLVE_UPDATE } from '../../contracts/names';
import { statusCommand } from '../../contracts/operator-commands';
import type { ResolveUpdateInput } from '../../contracts/purchase';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { isDeliveryError } from '../../delivery';
import { isSafeOrderId } from '../../domain/order';
import { errorName } from '../../domain/safe-values';
import { hasResultOrIsRunning } from '../../domain/purchase-state';
import { planDelivery } from '../../domain/plan-delivery';
import { type Finding, findingKey, hasSaleRepair, withStatus } from '../../domain/reconciliation/finding';
import { withKeysMissing, withoutDelivery } from '../../domain/reconciliation/reconcile';
import { toSingleLine } from '../../domain/text-format';
import { isPartnerError, withRetry } from '../../partner';
import { blocksDeliveries, startDelivery } from '../../temporal/client';
import { RESPONSE_TIMEOUT_MS } from '../../workflows/policies';
import { postEvent } from '../deliver-sale';
import { loadEndedPurchase } from '../read-ended-purchase';
import type { RecheckedFinding, ReconcileContext } from './recheck-finding';

/** How many times a notice is tried. The next night repeats it. */
const TRIES = 3;
const FIRST_PAUSE_MS = 1_000;
/** Other findings are only in the report: a checkout that is down must not delay a reconciliation for hours. */
const MAX_NOTICES = 500;

/** The most UTF-16 code units of a task queue's name in a note. */
const MAX_QUEUE_LENGTH = 100;

/** The most order ids and key ids of one finding in a result or an event. The report has all of them. */
const MAX_IDS = 20;

/**
 * Repairs a finding as its `repair` allows. If that fails, the finding stays unrepaired, with the reason, and the next
 * run tries again.
 * @returns undefined if it turns out that nothing had to be done
 */
export async function handleFinding(
  context: ReconcileContext,
  rechecked: RecheckedFinding,
): Promise<ReportedFinding | undefined> {
  const { finding } = rechecked;
  if (context.dryRun && !hasSaleRepair(finding)) return withStatus(finding, 'dry-run');
  const handled = await repairFinding(context, rechecked).catch((error: unknown) => {
    context.retry.signal.throwIfAborted();
    return unrepaired(finding, `it could not be repaired this time: ${safeMessage(error)}`);
  });
  return handled && context.dryRun ? { ...handled, done: 'dry-run' } : handled;
}

async function repairFinding(
  context: ReconcileContext,
  rechecked: RecheckedFinding,
): Promise<ReportedFinding | undefined> {
  if (rechecked.notRechecked !== undefined)
    return unrepaired(withoutDelivery(rechecked.finding), rechecked.notRechecked);
  const { finding } = rechecked;
  switch (finding.repair) {
    case 'deliver':
    case 'notify-refund':
    case 'deliver-or-notify':
      return bringUpToDate(context, rechecked);
    case 'adopt':
      return sendAdoption(context, rechecked);
    case 'notify':
      return notify(context, rechecked);
    case undefined:
      return unrepaired(finding);
  }
}

/**
 * Starts a late delivery of the order's keys or refund. Two deliveries at once are harmless, and a failed one is
 * repeated the next night.
 * @returns undefined if the checkout already has everything
 */
async function bringUpToDate(
  context: ReconcileContext,
  rechecked: RecheckedFinding,
): Promise<ReportedFinding | undefined> {
  const { finding } = rechecked;
  const { referenceId, repair } = finding;
  if (referenceId === undefined) return unrepaired(finding, 'its purchase is no longer known');
  const read = await withRetry(context.retry, () => loadEndedPurchase(context, referenceId)).catch(
    nothingToDeliverReason,
  );
  if (typeof read === 'string') return unrepaired(withoutDelivery(finding), read);
  const plan = planDelivery(read.ended, false);
  switch (plan.kind) {
    case 'issue':
      return unrepaired(withoutDelivery(finding), plan.issue);
    case 'nothing':
      if (read.ended.orderId === undefined) return unrepaired(withoutDelivery(finding), plan.reason);
      if (repair === 'notify-refund')
        return read.ended.refundReceived ? withStatus(finding, 'notified', plan.reason) : notify(context, rechecked);
      if (plan.missing === 0) return undefined;
      return repair === 'deliver-or-notify' ? notify(context, rechecked) : unrepaired(withKeysMissing(finding));
    case 'send': {
      const { newKeys, missing, event } = plan;
      if (!context.dryRun) {
        const doubt = await startLateDelivery(context, referenceId, read.taskQueue, event.type);
        if (doubt !== undefined) return unrepaired(finding, doubt);
      }
      const sent = context.dryRun ? 'to be sent' : 'being sent';
      if (event.type === 'purchase.refunded') return withStatus(finding, 'notified', `${sent}: ${event.type}`);
      const note = `keys ${sent} to the checkout: ${newKeys}`;
      return withStatus(finding, 'repaired', missing > 0 ? `${note}; still missing: ${missing}` : note);
    }
  }
}

/**
 * Starts a late delivery on the purchase's own task queue, unless one is running. A checkout may reject an event
 * permanently, and perhaps no worker serves the task queue. If this continues every night, an operator must know.
 *
 * @returns why the keys may never arrive; undefined if there is no reason to doubt that they will
 */
async function startLateDelivery(
  { client, purchases }: ReconcileContext,
  referenceId: string,
  taskQueue: string,
  what: string,
): Promise<string | undefined> {
  // Both times come from the server's clock.
  const { scheduledTimestampMs } = activityInfo();
  const last = await purchases.describeDeliveryIfKnown(referenceId);
  const issue = last && blocksDeliveries(last);
  if (issue !== undefined) return issue;
  if (last?.status.name === 'RUNNING' && last.startTime.getTime() < scheduledTimestampMs)
    return `a delivery has been running since ${last.startTime.toISOString()}${elsewhere(last.taskQueue)}: ${statusCommand(referenceId)}`;
  await startDelivery(client, taskQueue, { referenceId }, `${what} of ${referenceId}`);
  if (last && !hasResultOrIsRunning(last.status.name))
    return `the last delivery failed and was started again: ${statusCommand(referenceId)}`;
  const where = elsewhere(taskQueue);
  if (where === '') return undefined;
  return `the delivery was started${where}: a worker must run on that task queue`;
}

/** Names a task queue, unless it is this worker's own. Any client may have chosen the name. */
function elsewhere(taskQueue: string): string {
  if (taskQueue === activityInfo().taskQueue) return '';
  return ` on task queue ${toSingleLine(taskQueue, MAX_QUEUE_LENGTH)}, which this worker does not serve`;
}

function nothingToDeliverReason(error: unknown): string {
  if (error instanceof ApplicationFailure && error.type === FAILURE.nothingToDeliver) return error.message;
  throw error;
}

/** Sends a held purchase the decision to adopt this order. The purchase itself compares the items. */
async function sendAdoption(
  context: ReconcileContext,
  { finding, purchase }: RecheckedFinding,
): Promise<ReportedFinding> {
  const hold = purchase?.hold;
  const [orderId] = finding.orderIds;
  if (!purchase || !hold || orderId === undefined) return unrepaired(finding, 'it is no longer held');
  if (hold.reason !== 'PLACEMENT_UNKNOWN' || !hold.decisions.includes('order')) {
    return unrepaired(finding, `it is held for another reason: ${hold.reason}`);
  }
  const decision: ResolveUpdateInput = { holdId: hold.id, decision: 'order', orderId };
  const handle = context.client.workflow.getHandle(purchase.workflowId);
  try {
    await context.client.withDeadline(Date.now() + RESPONSE_TIMEOUT_MS, () =>
      handle.executeUpdate(RESOLVE_UPDATE, { args: [decision] }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    const reason = error instanceof WorkflowUpdateFailedError ? error.cause?.message : undefined;
    return unrepaired(finding, `the held purchase refused the order: ${reason ?? 'the purchase has just ended'}`);
  }
  return withStatus(finding, 'repaired', `the purchase adopts order ${orderId}`);
}

/** Notifies the checkout that an operator must act. Repeated every night, with the same id, while the finding lasts. */
async function notify(context: ReconcileContext, { finding, purchase }: RecheckedFinding): Promise<ReportedFinding> {
  if (context.dryRun) return withStatus(finding, 'dry-run');
  const { kind, orderIds, keyIds, amounts, explanation, advice } = withFewIds(finding);
  const [orderId] = orderIds;
  const shown = Object.entries(amounts).filter(([, amount]) => amount !== undefined) as [string, number][];
  const reason = await postNotice(context, 'purchase.attention', findingKey(finding), {
    referenceId: finding.referenceId ?? purchase?.referenceId ?? '',
    // An unusable id appears only in the details.
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    kind,
    details: { orderIds, ...(keyIds && { keyIds }), explanation, advice, ...Object.fromEntries(shown) },
  });
  return reason === undefined
    ? withStatus(finding, 'notified', 'purchase.attention')
    : unrepaired(finding, `the checkout was not notified: ${reason}`);
}

/**
 * Posts a notice. The same subject gets the same event id.
 * @returns why it was not delivered; undefined if it was
 */
export async function postNotice(
  context: ReconcileContext,
  type: 'purchase.attention' | 'reconciliation.completed',
  subject: string,
  data: CheckoutEvent['data'],
): Promise<string | undefined> {
  context.notices.count += 1;
  if (context.notices.count > MAX_NOTICES) return `more than ${MAX_NOTICES} notices in one reconciliation`;
  const { referenceId, orderId } = data;
  for (let attempt = 1; ; attempt++) {
    context.retry.signal.throwIfAborted();
    try {
      const delivered = await postEvent(context, { type, referenceId, orderId, subject }, data);
      return delivered.kind === 'REFUSED' ? 'it rejected the event permanently (410)' : undefined;
    } catch (error) {
      if (!isDeliveryError(error)) throw error;
      if (attempt >= TRIES) return error.message;
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, { signal: context.retry.signal });
    }
  }
}

/** A finding as a result or an event shows it. */
export function withFewIds<Some extends Finding>(finding: Some): Some {
  const { orderIds, keyIds } = finding;
  return { ...finding, orderIds: orderIds.slice(0, MAX_IDS), keyIds: keyIds?.slice(0, MAX_IDS) };
}

function unrepaired(finding: Finding, note?: string): ReportedFinding {
  return withStatus(finding, 'unrepaired', note);
}

/** The messages of our own errors contain no key and no secret. Of other errors, only the name is shown. */
function safeMessage(error: unknown): string {
  if (isPartnerError(error) || error instanceof ApplicationFailure) return error.message;
  return errorName(error);
}
