import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../../contracts/search-attributes';
import type { PurchaseState } from '../../domain/purchase-state';

/**
 * The pause between two list queries of one process, in ms; a count is one. A production server answers ten a second per
 * namespace, those of all workers together, and refuses the rest.
 */
export const BETWEEN_LIST_QUERIES_MS = 200;

/** @param taskQueue without quotes and backslashes: the configuration refuses them. */
export function inTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue}'`;
}

/** The running purchases of a task queue that are in a state; `STARTED` are those that show none yet. */
export function runningPurchases(taskQueue: string, state: PurchaseState | 'STARTED'): string {
  const inState = state === 'STARTED' ? 'IS NULL' : `= '${state}'`;
  return `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${runningIn(taskQueue)} AND ${PURCHASE_STATE.name} ${inState}`;
}

/** The running deliveries after the end of their purchase. */
export function runningDeliveries(taskQueue: string): string {
  return `WorkflowType = '${DELIVER_WORKFLOW}' AND ${runningIn(taskQueue)}`;
}

function runningIn(taskQueue: string): string {
  return `ExecutionStatus = 'Running' AND ${inTaskQueue(taskQueue)}`;
}

const YOUNGEST_MS = 1_000;
const OLDEST_MS = 400 * 24 * 3_600_000;
/** They narrow the range above to 2 %. */
const HALVINGS = 10;

/** Counts the workflows of a list filter. Lists lag by about a second. @throws ServiceError */
export async function countListed(client: Client, filter: string): Promise<number> {
  await sleep(BETWEEN_LIST_QUERIES_MS);
  return (await client.workflow.count(filter)).count;
}

/**
 * How long ago the oldest workflow of a list filter was started, in ms, within 2 %. The server sorts no list, so ten counts halve
 * the range of possible ages, on a logarithmic scale. @throws ServiceError
 */
export async function oldestAge(client: Client, filter: string, now: number): Promise<number> {
  let [younger, older] = [YOUNGEST_MS, OLDEST_MS];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = Math.sqrt(younger * older);
    const startedBefore = new Date(now - middle).toISOString();
    if ((await countListed(client, `${filter} AND StartTime < '${startedBefore}'`)) > 0) younger = middle;
    else older = middle;
  }
  return younger;
}

/** The order of the purchase that ended last in a task queue, if any has one. @throws ServiceError */
export async function newestOrderId(client: Client, taskQueue: string): Promise<string | undefined> {
  const query =
    `WorkflowType = '${PURCHASE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ` +
    `${PARTNER_ORDER_ID.name} IS NOT NULL AND ${inTaskQueue(taskQueue)}`;
  for await (const { typedSearchAttributes } of client.workflow.list({ query, pageSize: 1 })) {
    return typedSearchAttributes.get(PARTNER_ORDER_ID);
  }
  return undefined;
}
