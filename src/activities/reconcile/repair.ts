import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE } from '../../contracts/failures';
import { RESOLVE_UPDATE, resolveUpdateId } from '../../contracts/names';
import type { Decision } from '../../contracts/purchase';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { isSafeOrderId } from '../../domain/order';
import { planDelivery } from '../../domain/plan-delivery';
import { type Finding, findingKey, readsSale, withKeysMissing, withStatus } from '../../domain/reconciliation/index';
import { isPartnerError, type ReadRetry, withRetry } from '../../partner/index';
import { startDelivery } from '../../temporal/client';
import { answerTimeout } from '../../workflows/policies';
import type { ActivityDependencies } from '../dependencies';
import { nameOf } from '../failures';
import { readEndedSale } from '../read-sale';
import type { ConfirmedFinding } from './confirm';
import { MOST_ORDER_IDS, type NoticeContext, postNotice } from './notices';

/** What repairs need. */
export interface RepairContext
  extends NoticeContext, Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases'> {
  client: Client;
  retry: ReadRetry;
  /** Read what would be delivered, and do nothing. */
  dryRun: boolean;
}

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
  if (context.dryRun && !readsSale(finding)) return withStatus(finding, 'dry-run');
  const handled = await repair(context, confirmed).catch((error: unknown) => {
    context.signal.throwIfAborted();
    return left(finding, `it could not be repaired now: ${safeMessage(error)}`);
  });
  return handled && context.dryRun ? { ...handled, done: 'dry-run' } : handled;
}

async function repair(context: RepairContext, confirmed: ConfirmedFinding): Promise<ReportedFinding | undefined> {
  if (confirmed.unconfirmed !== undefined) return left(confirmed.finding, confirmed.unconfirmed);
  const { finding } = confirmed;
  switch (finding.repair) {
    case 'deliver':
    case 'notify-refund': {
      const done = await bringUpToDate(context, finding);
      return done === 'nothing-new' ? left(withKeysMissing(finding)) : done;
    }
    case 'deliver-or-notify': {
      const done = await bringUpToDate(context, finding);
      return done === 'nothing-new' ? notify(context, confirmed) : done;
    }
    case 'adopt':
      return adopt(context, confirmed);
    case 'notify':
      return notify(context, confirmed);
    case undefined:
      return left(finding);
  }
}

/**
 * Starts what brings the checkout up to date with the keys, or the refund, of an order. Two of them at once are harmless, and what
 * failed the night before is tried again.
 *
 * @returns the finding with its status; undefined if the checkout turns out to have everything; `nothing-new` if keys are missing and
 *   the order holds none that is new.
 */
async function bringUpToDate(
  context: RepairContext,
  finding: Finding,
): Promise<ReportedFinding | 'nothing-new' | undefined> {
  const { referenceId } = finding;
  if (referenceId === undefined) return left(finding, 'its purchase is no longer known');
  const read = await withRetry(context.retry, () => readEndedSale(context, referenceId)).catch(whyNothing);
  if (typeof read === 'string') return left(finding, read);
  const plan = planDelivery(read.sale, false);
  switch (plan.kind) {
    case 'issue':
      return left(finding, plan.issue);
    case 'nothing':
      if (finding.repair === 'notify-refund') return withStatus(finding, 'notified', plan.why);
      return plan.missing > 0 ? 'nothing-new' : undefined;
    case 'send': {
      const { newKeys, missing, delivery } = plan;
      if (!context.dryRun) {
        await startDelivery(context.client, read.taskQueue, { referenceId }, `${delivery.type} of ${referenceId}`);
      }
      if (delivery.type === 'purchase.refunded') return withStatus(finding, 'notified', delivery.type);
      const note = `keys on their way to the checkout: ${newKeys}`;
      return withStatus(finding, 'repaired', missing > 0 ? `${note}; still missing: ${missing}` : note);
    }
  }
}

function whyNothing(error: unknown): string {
  if (error instanceof ApplicationFailure && error.type === FAILURE.nothingToDeliver) return error.message;
  throw error;
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
  return withStatus(finding, 'repaired', `the purchase adopts order ${orderId}`);
}

/** Notifies the checkout that a person must act. The next night repeats it, under the same id, while the finding lasts. */
async function notify(context: RepairContext, { finding, purchase }: ConfirmedFinding): Promise<ReportedFinding> {
  if (context.dryRun) return withStatus(finding, 'dry-run');
  const { kind, orderIds, amounts, explanation, advice } = finding;
  const [orderId] = orderIds;
  const shown = Object.entries(amounts).filter(([, amount]) => amount !== undefined) as [string, number][];
  const why = await postNotice(context, 'purchase.attention', findingKey(finding), {
    referenceId: finding.referenceId ?? purchase?.referenceId ?? '',
    // An id that can't be used stands in the details only.
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    kind,
    details: { orderIds: orderIds.slice(0, MOST_ORDER_IDS), explanation, advice, ...Object.fromEntries(shown) },
  });
  return why === undefined
    ? withStatus(finding, 'notified', 'purchase.attention')
    : left(finding, `the checkout was not notified: ${why}`);
}

function left(finding: Finding, note?: string): ReportedFinding {
  return withStatus(finding, 'left', note);
}

/** The messages of our own errors hold no key and no secret. Of any other error only the name is shown. */
function safeMessage(error: unknown): string {
  if (isPartnerError(error) || error instanceof ApplicationFailure) return error.message;
  return nameOf(error);
}
