import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW } from '../../contracts/names';
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
    const run = await lastRun(client, taskQueue);
    const endedAt = run?.closeTime?.getTime() ?? 0;
    if (!run || (last && endedAt <= last.endedAt)) return last;
    last = { startedAt: run.startTime.getTime(), endedAt, result: await resultOf(client, run) };
    return last;
  };
}

async function resultOf(client: Client, { workflowId, runId }: WorkflowExecutionInfo): Promise<ReconciliationResult> {
  return (await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result()) as ReconciliationResult;
}

/** The server appends the time to the schedule's workflow id. */
const SCHEDULED_PREFIX = `${RECONCILE_SCHEDULE}-`;
const COMPLETED = `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus = 'Completed'`;

export function isScheduled(workflowId: string): boolean {
  return workflowId.startsWith(SCHEDULED_PREFIX);
}

/** How many times its lookback a scheduled reconciliation reads at most, because the orders must fit into the memory. */
const MAX_REACH = 3;

/**
 * Where a scheduled reconciliation begins. It reaches back beyond the last one that read everything, so that nothing is
 * left out after nights without such a run, or if the lookback is shorter than the time between two runs.
 *
 * The runs before it count on any task queue: a namespace has one schedule, and its queue may have been changed.
 *
 * @param from epoch ms: where the lookback begins
 * @returns epoch ms. `lastAt`: the start of the last scheduled run that read everything; absent if there is none
 */
export async function reachOf(
  client: Client,
  { from, lookbackMs }: { from: number; lookbackMs: number },
): Promise<{ from: number; lastAt?: number }> {
  const lastAt = (await lastScheduledRun(client))?.startTime.getTime();
  if (lastAt === undefined) return { from };
  const longestMs = Math.min(lookbackMs * MAX_REACH, (await retentionOf(client)) - DAY_MS);
  // The last run left young purchases to this one.
  const wanted = Math.max(lastAt - DAY_MS, from + lookbackMs - longestMs);
  return { from: Math.min(from, wanted), lastAt };
}

/** The last one that read everything, or if there is none, the first one. */
async function lastScheduledRun(client: Client): Promise<WorkflowExecutionInfo | undefined> {
  const query = `${COMPLETED} AND WorkflowId STARTS_WITH '${SCHEDULED_PREFIX}'`;
  let last: WorkflowExecutionInfo | undefined;
  for await (const run of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    if ((run.memo as Partial<ReconciliationMemo> | undefined)?.dryRun !== false) continue;
    last = run;
    const { hasGaps } = await resultOf(client, run).catch(() => ({ hasGaps: true }));
    if (!hasGaps) break;
  }
  return last;
}

/** The server lists the most recently ended run first. */
async function lastRun(client: Client, taskQueue: string): Promise<WorkflowExecutionInfo | undefined> {
  const query = `${COMPLETED} AND ${inTaskQueue(taskQueue)}`;
  const manual: { run: WorkflowExecutionInfo; lookbackMs: number }[] = [];
  for await (const run of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    const { dryRun, lookbackMs } = (run.memo ?? {}) as Partial<ReconciliationMemo>;
    if (dryRun !== false || lookbackMs === undefined) continue;
    if (run.workflowId !== RECONCILE_NOW) return manual.find((other) => other.lookbackMs >= lookbackMs)?.run ?? run;
    manual.push({ run, lookbackMs });
  }
  return manual.find(({ lookbackMs }) => lookbackMs >= DAY_MS)?.run;
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
