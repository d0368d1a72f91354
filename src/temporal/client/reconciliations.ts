import type { Client } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_WORKFLOW } from '../../contracts/names';
import type { ReconciliationMemo, ReconciliationResult } from '../../contracts/reconciliation';
import { inHours } from '../../domain/texts';
import { inTaskQueue } from './lists';

const DAY_MS = 24 * 3_600_000;
const PAGE_SIZE = 20;

/** A reconciliation that has ended. Instants are epoch ms. */
export interface EndedReconciliation {
  startedAt: number;
  endedAt: number;
  result: ReconciliationResult;
}

interface EndedRun extends Omit<EndedReconciliation, 'result'> {
  workflowId: string;
  runId: string;
  lookbackMs: number;
}

/**
 * Reads the last reconciliation of a task queue that counts, and its result only once. A dry run does not count; a manual run only if
 * it looked back as far as the last scheduled one, or a day if there is none: otherwise it can't show that earlier findings are gone.
 */
export function createLastReconciliationReader(
  client: Client,
  taskQueue: string,
): () => Promise<EndedReconciliation | undefined> {
  let last: EndedReconciliation | undefined;
  return async () => {
    const run = await lastRun(client, taskQueue);
    if (!run || (last && run.endedAt <= last.endedAt)) return last;
    const { workflowId, runId, startedAt, endedAt } = run;
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    last = { startedAt, endedAt, result: (await handle.result()) as ReconciliationResult };
    return last;
  };
}

/** The server lists the run that ended last first. */
async function lastRun(client: Client, taskQueue: string): Promise<EndedRun | undefined> {
  const query = `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ${inTaskQueue(taskQueue)}`;
  const manual: EndedRun[] = [];
  for await (const one of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    const { dryRun, lookbackMs } = (one.memo ?? {}) as Partial<ReconciliationMemo>;
    if (dryRun !== false || lookbackMs === undefined) continue;
    const { workflowId, runId, startTime, closeTime } = one;
    const run = { workflowId, runId, lookbackMs, startedAt: startTime.getTime(), endedAt: closeTime?.getTime() ?? 0 };
    if (workflowId !== RECONCILE_NOW) return manual.find((other) => other.lookbackMs >= lookbackMs) ?? run;
    manual.push(run);
  }
  return manual.find(({ lookbackMs }) => lookbackMs >= DAY_MS);
}

/**
 * Why a look-back beyond the namespace's retention less a day is refused, and what to do. Older purchases are forgotten, and a
 * reconciliation would report each of their orders as an orphan.
 */
export async function lookbackIssue(client: Client, lookbackMs: number): Promise<string | undefined> {
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
  if (lookbackMs <= retentionMs - DAY_MS) return undefined;
  const needed = inHours(lookbackMs + DAY_MS);
  return (
    `A look-back of ${inHours(lookbackMs)} needs a retention of ${needed} in namespace ${namespace}, which has ` +
    `${inHours(retentionMs)}. Look back less far, or: ` +
    `temporal operator namespace update --retention ${needed} --namespace ${namespace} ` +
    '(on Temporal Cloud: tcld namespace retention set)'
  );
}
