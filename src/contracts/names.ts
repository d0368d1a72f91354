import type { Decision } from './purchase';

/**
 * Every name and id that this project and Temporal share: task queue, workflow types and ids, the update, the query, the schedule.
 * None of them may change while a workflow runs that was started under it.
 */

/** The task queue unless `TEMPORAL_TASK_QUEUE` says otherwise. */
export const DEFAULT_TASK_QUEUE = 'fulfilment';

/** Workflow types. */
export const PURCHASE_WORKFLOW = 'purchaseWorkflow';
export const DELIVER_WORKFLOW = 'deliverWorkflow';
export const RECONCILE_WORKFLOW = 'reconcileWorkflow';

/**
 * The field of the memo by which a start says that it has set RejectDuplicate: then no other execution of this id has placed an order.
 * Only our starter writes it.
 */
export const STARTED_ONCE = 'startedOnce';

/** The query that answers where a purchase stands: a `StatusAnswer`. */
export const STATUS_QUERY = 'status';

/** The update that carries an operator's decision on a held purchase. */
export const RESOLVE_UPDATE = 'resolve';

/**
 * The id of that update: the same decision on the same hold is one update, whoever sends it and how often. None for `order`: the
 * order is read anew each time, because the partner may have been away the time before.
 */
export function resolveUpdateId({ hold, decision }: Decision): string | undefined {
  return decision === 'order' ? undefined : `${hold} ${decision}`;
}

const PURCHASE_ID_PREFIX = 'purchase-';
const DELIVER_ID_PREFIX = 'deliver-';

/** The id of the purchase of a reference: one workflow for each sale. */
export function purchaseWorkflowId(referenceId: string): string {
  return `${PURCHASE_ID_PREFIX}${referenceId}`;
}

/** The reference of the purchase with this workflow id. */
export function referenceIdOfWorkflow(workflowId: string): string {
  return workflowId.startsWith(PURCHASE_ID_PREFIX) ? workflowId.slice(PURCHASE_ID_PREFIX.length) : workflowId;
}

/** The reference of the purchase, or of the delivery after its end, with this workflow id; undefined for any other id. */
export function referenceOfWorkflow(workflowId: string): string | undefined {
  const prefix = [PURCHASE_ID_PREFIX, DELIVER_ID_PREFIX].find((one) => workflowId.startsWith(one));
  return prefix === undefined ? undefined : workflowId.slice(prefix.length);
}

/** The id of the workflow that delivers after the end of a purchase: one at a time. */
export function deliverWorkflowId(referenceId: string): string {
  return `${DELIVER_ID_PREFIX}${referenceId}`;
}

/** The id of the nightly schedule. The server adds the time to it for the id of each run. */
export const RECONCILE_SCHEDULE = 'nightly-reconciliation';

/** The workflow id of the reconciliation that an operator starts: one at a time. */
export const RECONCILE_NOW = 'manual-reconciliation';
