import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  proxyActivities,
  setCurrentDetails,
  upsertMemo,
} from '@temporalio/workflow';
import { FAILURE } from '../contracts/failures';
import type {
  ReconcileActivities,
  ReconcileInput,
  ReconciliationMemo,
  ReconciliationResult,
} from '../contracts/reconciliation';
import { formatInstant } from '../contracts/format-instant';
import { describeReconciliation } from './describe-reconciliation';
import { isReconciliationResult, validateReconcileInput } from './guards';
import { reconciliationOptions } from './policies';

/**
 * Compares the partner's orders with the purchases in Temporal, repairs what it can and writes a report. It never
 * places an order.
 *
 * @param input `lookbackMs` (72 h), `dryRun` (false), `timeZone` (UTC).
 * @returns counts by kind, the first findings, and the location of the report.
 * @throws ApplicationFailure `InvalidReconciliation`, `LookbackTooLong`; ActivityFailure after 18 h of failures
 */
export async function reconcileWorkflow(input?: ReconcileInput): Promise<ReconciliationResult> {
  const to = Date.now();
  const { lookbackMs, dryRun, timeZone } = validateReconcileInput(to, input);
  const from = to - lookbackMs;
  upsertMemo({ lookbackMs, dryRun } satisfies ReconciliationMemo);
  const hours = lookbackMs / 3_600_000;
  setCurrentDetails(
    `**RECONCILING** since ${formatInstant(to)}${dryRun ? ', as a dry run' : ''}: the partner's orders of the last ${hours} h, or since ` +
      'the last scheduled run, are compared with the purchases in Temporal. The heartbeat under Pending Activities shows the progress. **Next:** repairs, then the report.',
  );

  const { reconcileOrders } = proxyActivities<ReconcileActivities>(reconciliationOptions);
  const summary = `orders since ${new Date(from).toISOString()} or earlier${dryRun ? ' (dry run)' : ''}`;
  const result = await reconcileOrders
    .executeWithOptions({ summary }, [{ from, to, dryRun, timeZone }])
    .catch(endAsCancelled);
  if (!isReconciliationResult(result)) {
    const reason = 'an operator completed the reconciliation by hand, without a result';
    throw ApplicationFailure.nonRetryable(reason, FAILURE.invalidReconciliation);
  }
  setCurrentDetails(describeReconciliation(result, dryRun));
  return result;
}

/** A cancelled reconciliation ends as cancelled, even if its activity failed before the cancel reached it. */
function endAsCancelled(failure: unknown): never {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled while reconciling');
  throw failure;
}
