import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { RECONCILE_SCHEDULE } from '../contracts/names';
import {
  DEFAULT_LOOKBACK_MS,
  type ReconcileActivities,
  type ReconcileInput,
  type ReconciliationResult,
} from '../contracts/reconciliation';
import { delivering, recorded } from './policies';

/**
 * One activity that begins again from the start if its worker dies, which the missing heartbeat tells. Together with the
 * telling it ends before the next night's run.
 */
const RECONCILING: ActivityOptions = {
  startToCloseTimeout: '6h',
  scheduleToCloseTimeout: '18h',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m' },
};

/** An event that waits longer than this for its receiver is given up: the report and the result say the same. */
const TELLING_MS = 3 * 3_600_000;

/**
 * Compares what the partner charged with what was bought and handed over here, mends what can be mended and reports.
 * It never buys anything.
 *
 * @param input `lookbackMs` (72 h), `dryRun` (false), `timeZone` (UTC).
 * @returns counts by kind, the first findings, and where the report is.
 */
export async function reconcileWorkflow(input: ReconcileInput = {}): Promise<ReconciliationResult> {
  const { lookbackMs = DEFAULT_LOOKBACK_MS, dryRun = false, timeZone = 'UTC' } = input ?? {};
  const to = Date.now();
  const window = { from: to - lookbackMs, to, dryRun, timeZone };
  setCurrentDetails(
    `**RECONCILING** the last ${lookbackMs / 3_600_000} h; progress is in the heartbeat of its activity`,
  );

  const { reconcileOrders } = proxyActivities<ReconcileActivities>(RECONCILING);
  const summary = `orders since ${new Date(window.from).toISOString()}${dryRun ? ', only a report' : ''}`;
  const result = await reconcileOrders.executeWithOptions({ summary }, [window]).catch(endAsCancelled);
  setCurrentDetails(`**DONE** ${inWords(result)}`);
  if (!dryRun) await tellCompleted(result);
  return result;
}

/** What failed between the cancel and its arrival in the activity is not why this ended. */
function endAsCancelled(failure: unknown): never {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled while it was reconciling');
  throw failure;
}

/** The checkout may be away: the reconciliation itself has succeeded all the same. */
async function tellCompleted(result: ReconciliationResult): Promise<void> {
  const { settings } = await proxyLocalActivities<Activities>(recorded).readSettings();
  const options = { ...delivering(settings), scheduleToCloseTimeout: TELLING_MS };
  const { deliverEvent } = proxyActivities<Activities>(options);
  const { from, to, orders, mended, report, findings } = result;
  try {
    await deliverEvent.executeWithOptions({ summary: 'reconciliation.completed' }, [
      {
        type: 'reconciliation.completed',
        at: to,
        referenceId: RECONCILE_SCHEDULE,
        deduplicationKey: workflowInfo().runId,
        kind: 'RECONCILIATION',
        details: { from, to, orders, mended, report, ...findings },
      },
    ]);
  } catch (failure) {
    if (!(failure instanceof ActivityFailure)) throw failure;
    log.warn('the checkout did not take reconciliation.completed');
  }
}

function inWords({ orders, findings, mended, report }: ReconciliationResult): string {
  const counts = Object.entries(findings).map(([kind, count]) => `${count} × ${kind}`);
  return `${orders} orders; ${counts.join(', ') || 'nothing to report'}; ${mended} mended; ${report}`;
}
