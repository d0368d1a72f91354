import { ApplicationFailure } from '@temporalio/common';
import { FAILURE } from '../../contracts/failures';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { planDelivery } from '../../domain/plan-delivery';
import { type Finding, withStatus } from '../../domain/reconciliation/index';
import { withRetry } from '../../partner/index';
import { startDelivery } from '../../temporal/client';
import { readEndedSale } from '../read-sale';
import type { RepairContext } from './repair-context';

/**
 * Starts what brings the checkout up to date with the keys, or the refund, of an order. Two of them at once are harmless, and what
 * failed the night before is tried again.
 *
 * @returns the finding with its status; undefined if the checkout turns out to have everything; `nothing-new` if keys are missing and
 *   the order holds none that is new.
 */
export async function bringUpToDate(
  context: RepairContext,
  finding: Finding,
): Promise<ReportedFinding | 'nothing-new' | undefined> {
  const { referenceId } = finding;
  if (referenceId === undefined) return withStatus(finding, 'left', 'its purchase is no longer known');
  const read = await withRetry(context.retry, () => readEndedSale(context, referenceId)).catch(whyNothing);
  if (typeof read === 'string') return withStatus(finding, 'left', read);
  const plan = planDelivery(read.sale, false);
  switch (plan.kind) {
    case 'issue':
      return withStatus(finding, 'left', plan.issue);
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
