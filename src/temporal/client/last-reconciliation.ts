import type { Client } from '@temporalio/client';
import { RECONCILE_WORKFLOW } from '../../contracts/names';
import type { ReconcileInput, ReconciliationResult } from '../../contracts/reconciliation';
import { readStartInput } from './history';
import { inTaskQueue } from './list-filters';
import { epochMsOf } from './proto-timestamp';

/** So many of the newest are looked through for one that was no dry run. */
const NEWEST = 50;

/** A reconciliation that has ended. Instants are epoch ms. */
export interface EndedReconciliation {
  runId: string;
  startedAt: number;
  endedAt: number;
  result: ReconciliationResult;
}

/**
 * The last reconciliation of a task queue that completed and was no dry run.
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
    const input = (await readStartInput(client, run)) as ReconcileInput | undefined;
    if (input?.dryRun === true) continue;
    const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
    const result = (await handle.result()) as ReconciliationResult;
    return { runId: run.runId, startedAt: epochMsOf(startTime), endedAt: epochMsOf(closeTime), result };
  }
  return known;
}
