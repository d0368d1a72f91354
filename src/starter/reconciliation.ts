import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_WORKFLOW } from '../contracts/names';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput, type ReconciliationResult } from '../contracts/reconciliation';
import { lookbackIssue, rootCauseOf } from '../temporal/client';
import { reconciliationTimeout } from '../workflows/policies';
import { StarterError } from './errors';

/** The reconciliation could not be started, or ended without a result. */
export class ReconciliationError extends StarterError {}

/**
 * Runs one reconciliation now and waits for its end. Needs a running worker.
 *
 * @param onStart receives the id of the run, for people who wait.
 * @throws ReconciliationError when one that was started this way is still running, when the look-back is longer than what the
 *   namespace remembers, or when it was cancelled or failed.
 */
export async function reconcileNow(
  client: Client,
  taskQueue: string,
  input: ReconcileInput = {},
  onStart: (runId: string) => void = () => undefined,
): Promise<ReconciliationResult> {
  await refuseLongLookback(client, input.lookbackMs ?? DEFAULT_LOOKBACK_MS);
  try {
    const handle = await client.workflow.start(RECONCILE_WORKFLOW, {
      workflowId: RECONCILE_NOW,
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowExecutionTimeout: reconciliationTimeout,
      staticSummary: input.dryRun ? 'manual reconciliation that only reports' : 'manual reconciliation',
    });
    onStart(handle.firstExecutionRunId);
    return (await handle.result()) as ReconciliationResult;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      throw new ReconciliationError(
        `A manual reconciliation is still running: workflow ${RECONCILE_NOW}. ` +
          `To wait for it: temporal workflow show --follow --workflow-id ${RECONCILE_NOW}`,
      );
    }
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw new ReconciliationError(`The reconciliation ended without a result: ${rootCauseOf(error).message}`);
  }
}

/** @throws ReconciliationError when the look-back is longer than the namespace's retention less a day. */
export async function refuseLongLookback(client: Client, lookbackMs: number): Promise<void> {
  const issue = await lookbackIssue(client, lookbackMs);
  if (issue !== undefined) throw new ReconciliationError(issue);
}
