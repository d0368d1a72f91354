import type { PurchaseState } from '../../domain/purchase-state';
import { PURCHASE_STATE } from '../../contracts/search-attributes';

/**
 * Between two list queries of one process, in ms. A production server answers ten a second of a namespace and refuses the rest, those
 * of other workers too; counting is one.
 */
export const BETWEEN_LIST_QUERIES_MS = 200;

/** The list filter for what stands in a task queue. */
export function inTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue.replace(/[\\']/g, (sign) => `\\${sign}`)}'`;
}

/** The list filter for what runs in a task queue. */
export function runningIn(taskQueue: string): string {
  return `ExecutionStatus = 'Running' AND ${inTaskQueue(taskQueue)}`;
}

/** What a list shows of a purchase; `STARTED` where it shows no state yet. */
export type ListedState = PurchaseState | 'STARTED';

/** The list filter for the running purchases of a task queue that are in a state. */
export function inState(taskQueue: string, state: ListedState): string {
  const { name } = PURCHASE_STATE;
  return `${runningIn(taskQueue)} AND ${state === 'STARTED' ? `${name} IS NULL` : `${name} = '${state}'`}`;
}
