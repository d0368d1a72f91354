import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW } from '../../contracts/names';
import { BETWEEN_LIST_QUERIES_MS, inState, type ListedState, runningIn } from './list-filters';

const DAY_MS = 24 * 3_600_000;
/** So many halvings of what is left between a second and 400 days, in proportions: 2 in 100. */
const HALVINGS = 10;
const YOUNGEST_MS = 1_000;
const OLDEST_MS = 400 * DAY_MS;

/** How many workflows run, and about how long ago the oldest of them began, in ms; 0 where there is none. */
export interface RunningCount {
  count: number;
  oldestMs: number;
}

/**
 * Counts the running purchases of a task queue in a state. Lists lag by about a second. However many there are, it is never more than
 * a dozen short requests, five a second, because the server neither groups by a search attribute nor sorts.
 *
 * @param now epoch ms, with `withAge`: the age of the oldest is found out, too.
 * @throws ServiceError when the server can't be asked.
 */
export function countPurchases(
  client: Client,
  { taskQueue, state, now, withAge }: { taskQueue: string; state: ListedState; now: number; withAge: boolean },
): Promise<RunningCount> {
  return countRunning(client, `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${inState(taskQueue, state)}`, now, withAge);
}

/** The same of the deliveries after the end of a purchase. @param now epoch ms */
export function countLaterDeliveries(client: Client, taskQueue: string, now: number): Promise<RunningCount> {
  return countRunning(client, `WorkflowType = '${DELIVER_WORKFLOW}' AND ${runningIn(taskQueue)}`, now, true);
}

async function countRunning(client: Client, query: string, now: number, withAge: boolean): Promise<RunningCount> {
  const count = await countOf(client, query);
  if (count === 0 || !withAge) return { count, oldestMs: 0 };
  const isThereOlderThan = async (ageMs: number) =>
    (await countOf(client, `${query} AND StartTime < '${new Date(now - ageMs).toISOString()}'`)) > 0;
  return { count, oldestMs: await oldestAge(isThereOlderThan) };
}

/** Halves the range of possible ages, in proportions: of two minutes as of two days it finds two in a hundred. */
async function oldestAge(isThereOlderThan: (ageMs: number) => Promise<boolean>): Promise<number> {
  let younger = YOUNGEST_MS;
  let older = OLDEST_MS;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = Math.sqrt(younger * older);
    if (await isThereOlderThan(middle)) younger = middle;
    else older = middle;
  }
  return younger;
}

async function countOf(client: Client, query: string): Promise<number> {
  await sleep(BETWEEN_LIST_QUERIES_MS);
  const { namespace } = client.options;
  const { count } = await client.workflowService.countWorkflowExecutions({ namespace, query });
  return Number(count);
}
