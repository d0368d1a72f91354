import { fingerprintsOf } from '../../contracts/checkout-events';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { mayHaveKeys } from '../../domain/order';
import { type Finding, withStatus } from '../../domain/reconciliation/index';
import { type PurchaseRun, startKeyDelivery } from '../../temporal/client';
import { withRetry } from '../../partner/index';
import { planDelivery, type PlannedDelivery } from '../plan-delivery';
import type { ConfirmedFinding } from './confirm';
import type { RepairContext } from './repair-context';

const ON_ITS_WAY = 'a delivery of this reference is on its way to the checkout';
const FAILED =
  'the checkout did not receive an earlier late delivery (see the failed deliverWorkflow of this reference): redeliver it';

/**
 * Has the keys handed over that the checkout does not have. While a delivery of the reference is on its way nothing is done:
 * what it is going to send may not be known yet. What the checkout has refused, or not taken for a day, is left to people.
 *
 * @returns the finding with its status; undefined if the checkout turns out to have everything; `nothing-new` if keys are missing
 *   and the order holds none that is new.
 */
export async function deliverLate(
  context: RepairContext,
  { finding, purchase }: ConfirmedFinding,
): Promise<ReportedFinding | 'nothing-new' | undefined> {
  const [orderId] = finding.orderIds;
  if (!purchase || orderId === undefined) return withStatus(finding, 'left', 'its purchase is no longer known');
  const { referenceId } = purchase;
  const latest = await context.purchases.latestDelivery(referenceId);
  if (latest?.status === 'RUNNING') return onItsWay(context, finding, latest);

  const delivery = { referenceId, orderId, deliver: 'new' as const };
  const planned = await withRetry(context.retry, () => planDelivery(context, delivery, latest ? [latest] : []));
  const keys = planned.plan.requests.flatMap(fingerprintsOf).length;
  const issue = issueOf(planned);
  if (issue !== undefined) return withStatus(finding, 'left', issue);
  if (keys === 0) {
    const isDone = latest?.status === 'COMPLETED' && isStartedBy(context, latest);
    return isDone ? withStatus(finding, 'mended') : nothingNew(finding, planned);
  }
  if (context.dryRun) return withStatus(finding, 'dry-run', `keys to hand over: ${keys}`);

  const start = await startKeyDelivery(context.client, context.taskQueue, delivery, {
    memo: { reconciledBy: context.runId },
    summary: `late keys of ${referenceId}, by a reconciliation`,
  });
  if ('running' in start) return onItsWay(context, finding, start.running);
  const note = `keys on their way to the checkout: ${keys}`;
  if (planned.failed > 0) return withStatus(finding, 'left', `${note}; ${FAILED}`);
  return withStatus(finding, 'mended', planned.missing > 0 ? `${note}; still missing: ${planned.missing}` : note);
}

/** A delivery that this run had started before its worker died belongs in its report. */
function onItsWay(context: RepairContext, finding: Finding, running: PurchaseRun | undefined): ReportedFinding {
  const isOwn = running !== undefined && isStartedBy(context, running);
  return withStatus(finding, isOwn ? 'mended' : 'left', ON_ITS_WAY);
}

function isStartedBy({ runId }: RepairContext, { memo }: PurchaseRun): boolean {
  return memo?.reconciledBy === runId;
}

/** Why nothing may be handed over now. */
function issueOf({ plan: { order } }: PlannedDelivery): string | undefined {
  if (!order || order.issue !== undefined) return order?.issue;
  return mayHaveKeys(order.status) ? undefined : `its order is ${order.status} now`;
}

/** The order has no key that no event names. */
function nothingNew(finding: Finding, { failed, missing }: PlannedDelivery) {
  if (failed > 0) return withStatus(finding, 'left', FAILED);
  return missing > 0 ? 'nothing-new' : undefined;
}
