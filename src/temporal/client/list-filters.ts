import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW } from '../../contracts/names';
import type { PurchaseState } from '../../domain/purchase-state';
import { PURCHASE_STATE } from '../../contracts/search-attributes';

/**
 * The pause between two list queries of one process, in ms; a count is one. A production server answers ten a second per
 * namespace, those of all workers together, and refuses the rest.
 */
export const BETWEEN_LIST_QUERIES_MS = 200;

export function inTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue.replace(/[\\']/g, (sign) => `\\${sign}`)}'`;
}

/** The state of a purchase in a list; `STARTED` if it shows none yet. */
export type ListedState = PurchaseState | 'STARTED';

/** The running purchases of a task queue that are in a state. */
export function runningPurchases(taskQueue: string, state: ListedState): string {
  return `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${inState(taskQueue, state)}`;
}

/** The running deliveries after the end of their purchase. */
export function runningDeliveries(taskQueue: string): string {
  return `WorkflowType = '${DELIVER_WORKFLOW}' AND ${runningIn(taskQueue)}`;
}

export function inState(taskQueue: string, state: ListedState): string {
  const { name } = PURCHASE_STATE;
  return `${runningIn(taskQueue)} AND ${state === 'STARTED' ? `${name} IS NULL` : `${name} = '${state}'`}`;
}

function runningIn(taskQueue: string): string {
  return `ExecutionStatus = 'Running' AND ${inTaskQueue(taskQueue)}`;
}
