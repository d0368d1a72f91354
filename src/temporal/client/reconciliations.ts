import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_WORKFLOW } from '../../contracts/names';
import type { ReconciliationMemo, ReconciliationResult } from '../../contracts/reconciliation';
import { formatHours } from '../../domain/text-format';
import { inTaskQueue } from './visibility';

const DAY_MS = 24 * 3_600_000;
const PAGE_SIZE = 20;

/** An ended reconciliation. Times are epoch ms. */
export interface EndedReconciliation {
  startedAt: number;
  endedAt: number;
  result: ReconciliationResult;
}

/**
 * Reads the last reconciliation of a task queue; each result is read only once. Dry runs don't count. Neither do manual
 * runs with a shorter lookback than the last scheduled run: they can't show that earlier findings are gone.
 */
export function createLastReconciliationReader(
  client: Client,
  taskQueue: string,
): () => Promise<EndedReconciliation | undefined> {
  let last: EndedReconciliation | undefined;
  return async () => {
    const { run } = (await lastRun(client, taskQueue)) ?? {};
    const endedAt = run?.closeTime?.getTime() ?? 0;
    if (!run || (last && endedAt <= last.endedAt)) return last;
    const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
    last = { startedAt: run.startTime.getTime(), endedAt, result: (await handle.result()) as ReconciliationResult };
    return last;
  };
}

/**
 * Where a reconciliation must begin so that nothing since the last one is left out, after days without a completed run
 * or if the lookback is shorter than the time between two runs. Never earlier than the retention allows.
 *
 * @param from epoch ms
 * @param lookbackMs a shorter one than that of the last run was chosen on purpose, and stays
 */
export async function reachingBackToLastRun(
  client: Client,
  taskQueue: string,
  { from, lookbackMs }: { from: number; lookbackMs: number },
): Promise<number> {
  const last = await lastRun(client, taskQueue);
  if (!last || lookbackMs < last.lookbackMs) return from;
  const longestMs = (await retentionOf(client)) - DAY_MS;
  const earliest = from + lookbackMs - longestMs;
  // The last run left young purchases to this one.
  return Math.min(from, Math.max(last.run.startTime.getTime() - DAY_MS, earliest));
}

/** A run that did not only report, and its lookback. */
interface ListedRun {
  run: WorkflowExecutionInfo;
  lookbackMs: number;
}

/** The server lists the most recently ended run first. */
async function lastRun(client: Client, taskQueue: string): Promise<ListedRun | undefined> {
  const query = `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ${inTaskQueue(taskQueue)}`;
  const manual: ListedRun[] = [];
  for await (const run of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    const { dryRun, lookbackMs } = (run.memo ?? {}) as Partial<ReconciliationMemo>;
    if (dryRun !== false || lookbackMs === undefined) continue;
    if (run.workflowId !== RECONCILE_NOW)
      return manual.find((other) => other.lookbackMs >= lookbackMs) ?? { run, lookbackMs };
    manual.push({ run, lookbackMs });
  }
  return manual.find(({ lookbackMs }) => lookbackMs >= DAY_MS);
}

/**
 * Why a lookback is refused: it is longer than the namespace's retention minus a day. The server deletes older
 * purchases, so their orders would be reported as orphans.
 * @returns undefined if the lookback is allowed
 */
export async function lookbackIssue(client: Client, lookbackMs: number): Promise<string | undefined> {
  const { namespace } = client.options;
  const retentionMs = await retentionOf(client);
  if (lookbackMs <= retentionMs - DAY_MS) return undefined;
  const neededMs = lookbackMs + DAY_MS;
  const needed = formatHours(neededMs);
  return (
    `A lookback of ${formatHours(lookbackMs)} needs a retention of ${needed}, but namespace ${namespace} has ` +
    `${formatHours(retentionMs)}. Use a shorter lookback, or run: ` +
    `npm run temporal -- operator namespace update --retention ${needed} --namespace ${namespace} ` +
    `(on Temporal Cloud: tcld namespace retention set --namespace ${namespace} --retention-days ${Math.ceil(neededMs / DAY_MS)})`
  );
}

/** In ms. */
async function retentionOf(client: Client): Promise<number> {
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
}
