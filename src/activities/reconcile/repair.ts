import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { DeliveryRequest } from '../../contracts/checkout-events';
import { RESOLVE_UPDATE, resolveUpdateId } from '../../contracts/names';
import { eventIdOf } from '../../contracts/event-id';
import type { Decision } from '../../contracts/purchase';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { isSafeOrderId } from '../../domain/order';
import { type Finding, findingKey, readsForKeys, withKeysMissing, withStatus } from '../../domain/reconciliation/index';
import { isPartnerError, withRetry } from '../../partner/index';
import { answerTimeout } from '../../workflows/policies';
import { nameOf } from '../failures';
import type { ConfirmedFinding } from './confirm';
import { deliverLate } from './late-delivery';
import type { RepairContext } from './repair-context';
import { MOST_ORDER_IDS } from './result-details';
import { startDelivery } from './start-delivery';

/**
 * Does about a finding what its `repair` allows. What can't be done now is left, with the reason, and the next run tries again.
 *
 * @returns the finding with its status, or undefined if it turned out that nothing has to be done.
 */
export async function handleFinding(
  context: RepairContext,
  confirmed: ConfirmedFinding,
): Promise<ReportedFinding | undefined> {
  const { finding } = confirmed;
  if (context.dryRun && !readsForKeys(finding)) return withStatus(finding, 'dry-run');
  const handled = await repair(context, confirmed).catch((error: unknown) => {
    context.signal.throwIfAborted();
    return left(finding, `it could not be mended now: ${safeMessage(error)}`);
  });
  return handled && context.dryRun ? { ...handled, done: 'dry-run' } : handled;
}

async function repair(context: RepairContext, confirmed: ConfirmedFinding): Promise<ReportedFinding | undefined> {
  if (confirmed.unconfirmed !== undefined) return left(confirmed.finding, confirmed.unconfirmed);
  switch (confirmed.finding.repair) {
    case 'deliver-late': {
      const late = await deliverLate(context, confirmed);
      return late === 'nothing-new' ? left(withKeysMissing(confirmed.finding)) : late;
    }
    case 'deliver-late-or-notify-refund': {
      const late = await deliverLate(context, confirmed);
      return late === 'nothing-new' ? notifyRefund(context, confirmed) : late;
    }
    case 'adopt':
      return adopt(context, confirmed);
    case 'notify-refund':
      return notifyRefund(context, confirmed);
    case 'notify-attention':
      return notifyAttention(context, confirmed);
    case undefined:
      return left(confirmed.finding);
  }
}

/** Sends a held purchase the decision that this order is its own. The purchase itself compares the order with its items. */
async function adopt(context: RepairContext, { finding, purchase }: ConfirmedFinding): Promise<ReportedFinding> {
  const hold = purchase?.hold;
  const [orderId] = finding.orderIds;
  if (!purchase || !hold || orderId === undefined) return left(finding, 'it is no longer held');
  if (hold.reason !== 'PLACEMENT_UNKNOWN' || !hold.decisions.includes('order')) {
    return left(finding, `it is held for another reason: ${hold.reason}`);
  }
  const decision: Decision = { hold: hold.id, decision: 'order', orderId };
  const updateId = resolveUpdateId(decision);
  const handle = context.client.workflow.getHandle(purchase.workflowId);
  try {
    await context.client.withDeadline(Date.now() + answerTimeout, () =>
      handle.executeUpdate(RESOLVE_UPDATE, { args: [decision], updateId }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    const why = error instanceof WorkflowUpdateFailedError ? error.cause?.message : undefined;
    return left(finding, `its hold did not take the order: ${why ?? 'the purchase has just ended'}`);
  }
  return withStatus(finding, 'mended', `the purchase adopts order ${orderId}`);
}

async function notifyRefund(context: RepairContext, { finding, orders }: ConfirmedFinding): Promise<ReportedFinding> {
  const [orderId] = finding.orderIds;
  const before = orders.find((order) => order.id === orderId);
  if (finding.referenceId === undefined || orderId === undefined || !before) {
    return left(finding, 'its order is unknown');
  }
  const { data: order } = await withRetry(context.retry, () => context.partner.getOrder(orderId));
  if (order.status !== before.status) return left(finding, 'its order changed while the records were read');
  return notify(context, finding, {
    type: 'purchase.refunded',
    at: new Date(context.now()).toISOString(),
    referenceId: finding.referenceId,
    orderId,
    totalDebit: order.totalDebit,
    reason: finding.explanation,
    deduplicationKey: findingKey(finding),
  });
}

async function notifyAttention(
  context: RepairContext,
  { finding, purchase }: ConfirmedFinding,
): Promise<ReportedFinding> {
  const { kind, orderIds, amounts, explanation, advice } = finding;
  const [orderId] = orderIds;
  return notify(context, finding, {
    type: 'purchase.attention',
    at: new Date(context.now()).toISOString(),
    referenceId: finding.referenceId ?? purchase?.referenceId ?? '',
    // The delivery of an event refuses an id that can't be used; the details name it.
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    deduplicationKey: findingKey(finding),
    kind,
    details: { orderIds: orderIds.slice(0, MOST_ORDER_IDS), explanation, advice, ...amounts },
  });
}

/** Notifies the checkout once of each finding: the event's id is made of the finding's key. */
async function notify(context: RepairContext, finding: Finding, request: DeliveryRequest): Promise<ReportedFinding> {
  if (context.dryRun) return withStatus(finding, 'dry-run');
  const started = await startDelivery(context, request, findingKey(finding));
  if (started === 'failed-before') {
    return left(finding, `the checkout did not receive the event ${eventIdOf(request)} about it`);
  }
  return withStatus(finding, 'notified', `${request.type} ${eventIdOf(request)}`);
}

function left(finding: Finding, note?: string): ReportedFinding {
  return withStatus(finding, 'left', note);
}

/** The messages of our own errors hold no key and no secret. Of any other error only the name is shown. */
function safeMessage(error: unknown): string {
  if (isPartnerError(error) || error instanceof ApplicationFailure) return error.message;
  return nameOf(error);
}
