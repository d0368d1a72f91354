import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { RECONCILE_SCHEDULE } from '../contracts/names';
import type {
  ReconcileActivities,
  ReconcileInput,
  ReconciliationMemo,
  ReconciliationResult,
} from '../contracts/reconciliation';
import { escapeMarkdown } from '../domain/markdown';
import { isReconciliationResult } from './activity-result-guards';
import { completedEventOptions, localOptions, reconciliationOptions } from './policies';
import { instant } from './progress';
import { validateReconcileInput } from './validate-input';

/**
 * Compares what the partner charged with what was bought and handed over here, repairs what can be repaired and reports.
 * It never buys anything.
 *
 * @param input `lookbackMs` (72 h), `dryRun` (false), `timeZone` (UTC).
 * @returns counts by kind, the first findings, and where the report is. A failed one was started with an invalid input
 *   (`InvalidReconciliation`), looked back too far (`LookbackTooLong`), or was tried for 18 hours.
 */
export async function reconcileWorkflow(input?: ReconcileInput): Promise<ReconciliationResult> {
  const to = Date.now();
  const { lookbackMs, dryRun, timeZone } = validateReconcileInput(input, to);
  const from = to - lookbackMs;
  upsertMemo({ lookbackMs, dryRun } satisfies ReconciliationMemo);
  const hours = lookbackMs / 3_600_000;
  setCurrentDetails(
    `**RECONCILING** since ${instant(to)}${dryRun ? ', only to report' : ''}: the partner's orders of the last ${hours} h are ` +
      'compared with the purchases here. How far it is stands in the heartbeat of the pending activity. **Next:** repairs and the report.',
  );

  const { reconcileOrders } = proxyActivities<ReconcileActivities>(reconciliationOptions);
  const summary = `orders since ${new Date(from).toISOString()}${dryRun ? ', only a report' : ''}`;
  const result = await reconcileOrders
    .executeWithOptions({ summary }, [{ from, to, dryRun, timeZone }])
    .catch(endAsCancelled);
  if (!isReconciliationResult(result)) {
    const why = 'the reconciliation was completed by an operator, without a result';
    throw ApplicationFailure.nonRetryable(why, FAILURE.invalidReconciliation);
  }
  setCurrentDetails(`**DONE** ${describeResult(result)}`);
  if (!dryRun) await notifyCompleted(result);
  return result;
}

/** What failed between the cancel and its arrival in the activity is not why this ended. */
function endAsCancelled(failure: unknown): never {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled while it was reconciling');
  throw failure;
}

/** The checkout may be away: the reconciliation itself has succeeded all the same. */
async function notifyCompleted(result: ReconciliationResult): Promise<void> {
  const { readSettings } = proxyLocalActivities<Activities>(localOptions);
  const { settings } = await readSettings.executeWithOptions({ summary: 'the settings' }, []);
  const { deliverEvent } = proxyActivities<Activities>(completedEventOptions(settings));
  const { from, to, orders, mended, report, findings } = result;
  try {
    await deliverEvent.executeWithOptions({ summary: 'reconciliation.completed' }, [
      {
        type: 'reconciliation.completed',
        at: to,
        referenceId: RECONCILE_SCHEDULE,
        kind: 'RECONCILIATION',
        details: { from, to, orders, mended, report, ...findings },
        deduplicationKey: workflowInfo().runId,
      },
    ]);
  } catch (failure) {
    if (!(failure instanceof ActivityFailure)) throw failure;
    log.warn('the checkout did not take reconciliation.completed');
  }
}

function describeResult({ orders, findings, mended, report }: ReconciliationResult): string {
  const counts = Object.entries(findings).map(([kind, count]) => `${count} × ${kind}`);
  return `${orders} orders; ${counts.join(', ') || 'no findings'}; ${mended} mended; the report: ${escapeMarkdown(report)}`;
}
