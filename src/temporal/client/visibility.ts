import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../../contracts/search-attributes';
import type { PurchaseState } from '../../domain/purchase-state';

/**
 * The delay between two list queries or counts of one process, in ms. A production server allows ten a second per
 * namespace, for all workers together.
 */
export const BETWEEN_LIST_QUERIES_MS = 200;

/** The most rows in one page of a list: the memo of a purchase of 20,000 keys has 0.54 MB, and a response may have 128 MiB. */
export const ROWS_PER_PAGE = 200;

/** @param taskQueue contains no quotes or backslashes, because the configuration rejects them. */
export function inTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue}'`;
}

/** A filter for the running purchases of a task queue in a state. `STARTED`: purchases that show no state yet. */
export function runningPurchases(taskQueue: string, state: PurchaseState | 'STARTED'): string {
  const inState = state === 'STARTED' ? 'IS NULL' : `= '${state}'`;
  return `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${runningIn(taskQueue)} AND ${PURCHASE_STATE.name} ${inState}`;
}

/** A filter for the running late deliveries. */
export function runningDeliveries(taskQueue: string): string {
  return `WorkflowType = '${DELIVER_WORKFLOW}' AND ${runningIn(taskQueue)}`;
}

function runningIn(taskQueue: string): string {
  return `ExecutionStatus = 'Running' AND ${inTaskQueue(taskQueue)}`;
}

const MIN_AGE_MS = 1_000;
const MAX_AGE_MS = 400 * 24 * 3_600_000;
/** Enough to narrow this range to 2%. */
const HALVINGS = 10;

/**
 * Counts the workflows that match a filter. Lists lag by about a second.
 * @throws ServiceError
 */
export async function countListed(client: Client, filter: string): Promise<number> {
  await sleep(BETWEEN_LIST_QUERIES_MS);
  return (await client.workflow.count(filter)).count;
}

/**
 * The age of the oldest workflow that matches a filter, in ms, within 2%. The server can't sort lists, so ten counts
 * find the age by bisection on a logarithmic scale.
 * @throws ServiceError
 */
export async function oldestAge(client: Client, filter: string, now: number): Promise<number> {
  let [younger, older] = [MIN_AGE_MS, MAX_AGE_MS];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = Math.sqrt(younger * older);
    const startedBefore = new Date(now - middle).toISOString();
    if ((await countListed(client, `${filter} AND StartTime < '${startedBefore}'`)) > 0) younger = middle;
    else older = middle;
  }
  return younger;
}

/**
 * The order id of the last purchase in a task queue that ended with an order, if any.
 * @throws ServiceError
 */
export async function newestOrderId(client: Client, taskQueue: string): Promise<string | undefined> {
  const query =
    `WorkflowType = '${PURCHASE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ` +
    `${PARTNER_ORDER_ID.name} IS NOT NULL AND ${inTaskQueue(taskQueue)}`;
  for await (const { typedSearchAttributes } of client.workflow.list({ query, pageSize: 1 })) {
    return typedSearchAttributes.get(PARTNER_ORDER_ID);
  }
  return undefined;
}
