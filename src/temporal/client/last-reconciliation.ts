import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_WORKFLOW } from '../../contracts/names';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput, type ReconciliationResult } from '../../contracts/reconciliation';
import { readStartInput, type Run } from './history';
import { BETWEEN_LIST_QUERIES_MS, inTaskQueue } from './list-filters';

const DAY_MS = 24 * 3_600_000;
/** So many of the newest are looked through for one that counts. */
const NEWEST = 200;
const PAGE_SIZE = 50;
/** Of so many runs it is remembered what they were asked for. */
const MOST_REMEMBERED = 1_000;

/** A reconciliation that has ended. Instants are epoch ms. */
export interface EndedReconciliation {
  runId: string;
  startedAt: number;
  endedAt: number;
  result: ReconciliationResult;
}

/** A run that has ended, and how far it looked back. */
interface EndedRun extends Run, Omit<EndedReconciliation, 'result'> {
  lookbackMs: number;
}

/**
 * Reads the last reconciliation of a task queue that completed and counts. No dry run does; nor does one that a person started and
 * that looked back less far than the last of the others, or where there is none less than a day: it does not say that what a
 * night has found is mended.
 *
 * @returns a function that reads it. It reads no history twice, and returns the same one until there is a newer one. It throws a
 *   ServiceError when the server can't be asked, and another error where the result can't be decoded.
 */
export function createLastReconciliationReader(
  client: Client,
  taskQueue: string,
): () => Promise<EndedReconciliation | undefined> {
  const inputOf = createInputReader(client);
  let last: EndedReconciliation | undefined;
  return async () => {
    const run = await lastRun(client, taskQueue, inputOf);
    if (!run || (last && (run.runId === last.runId || run.endedAt < last.endedAt))) return last;
    const { workflowId, runId, startedAt, endedAt } = run;
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    last = { runId, startedAt, endedAt, result: (await handle.result()) as ReconciliationResult };
    return last;
  };
}

/** Those that a person started are listed by themselves: any number of them hides none of the others. */
async function lastRun(client: Client, taskQueue: string, inputOf: InputReader): Promise<EndedRun | undefined> {
  const ended = `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ${inTaskQueue(taskQueue)}`;
  const night = await newest(client, `${ended} AND WorkflowId != '${RECONCILE_NOW}'`, 0, inputOf);
  await sleep(BETWEEN_LIST_QUERIES_MS);
  const since = night ? ` AND CloseTime > '${new Date(night.endedAt).toISOString()}'` : '';
  const byHand = `${ended} AND WorkflowId = '${RECONCILE_NOW}'${since}`;
  return (await newest(client, byHand, night?.lookbackMs ?? DAY_MS, inputOf)) ?? night;
}

/** The newest that was no dry run and looked back so far. The server lists the last that ended first. */
async function newest(
  client: Client,
  query: string,
  leastLookbackMs: number,
  inputOf: InputReader,
): Promise<EndedRun | undefined> {
  let read = 0;
  const listed = client.workflow.list({ query, pageSize: PAGE_SIZE });
  for await (const { workflowId, runId, startTime, closeTime } of listed) {
    const { dryRun, lookbackMs = DEFAULT_LOOKBACK_MS } = await inputOf({ workflowId, runId });
    if (dryRun !== true && lookbackMs >= leastLookbackMs) {
      return { workflowId, runId, lookbackMs, startedAt: startTime.getTime(), endedAt: closeTime?.getTime() ?? 0 };
    }
    read += 1;
    if (read >= NEWEST) return undefined;
  }
  return undefined;
}

type InputReader = (run: Run) => Promise<ReconcileInput>;

/** What a run was asked for never changes. */
function createInputReader(client: Client): InputReader {
  const inputs = new Map<string, ReconcileInput>();
  return async (run) => {
    const known = inputs.get(run.runId);
    if (known) return known;
    const input = ((await readStartInput(client, run)) ?? {}) as ReconcileInput;
    if (inputs.size >= MOST_REMEMBERED) inputs.clear();
    inputs.set(run.runId, input);
    return input;
  };
}
