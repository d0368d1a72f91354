import type { Client } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_WORKFLOW } from '../../contracts/names';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput, type ReconciliationResult } from '../../contracts/reconciliation';
import { readStartInput, type Run } from './history';
import { inTaskQueue } from './list-filters';
import { epochMsOf } from './proto-timestamp';

const DAY_MS = 24 * 3_600_000;
/** So many of the newest are looked through for one that counts. */
const NEWEST = 50;

/** A reconciliation that has ended. Instants are epoch ms. */
export interface EndedReconciliation {
  runId: string;
  startedAt: number;
  endedAt: number;
  result: ReconciliationResult;
}

/**
 * The last reconciliation of a task queue that completed and counts: no dry run, and none that a person started and that looked
 * back less than a day, because neither says that what a night has found is mended.
 *
 * @param known the one that was the last before: nothing of it is read again.
 * @returns `known` where there is no newer one.
 * @throws ServiceError when the server can't be asked; an error where its result can't be decoded.
 */
export async function readLastReconciliation(
  client: Client,
  taskQueue: string,
  known?: EndedReconciliation,
): Promise<EndedReconciliation | undefined> {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ${inTaskQueue(taskQueue)}`,
    pageSize: NEWEST,
  });
  // The server lists the last that ended first.
  for (const { execution, startTime, closeTime } of executions) {
    const run = { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
    if (run.runId === known?.runId) return known;
    if (!(await isCounted(client, run))) continue;
    const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
    const result = (await handle.result()) as ReconciliationResult;
    return { runId: run.runId, startedAt: epochMsOf(startTime), endedAt: epochMsOf(closeTime), result };
  }
  return known;
}

async function isCounted(client: Client, run: Run): Promise<boolean> {
  const input = (await readStartInput(client, run)) as ReconcileInput | undefined;
  const { dryRun, lookbackMs = DEFAULT_LOOKBACK_MS } = input ?? {};
  return dryRun !== true && (run.workflowId !== RECONCILE_NOW || lookbackMs >= DAY_MS);
}
