import { REFERENCE_PATTERN } from '../domain/order';

/** All names and ids that this project shares with Temporal. Changing one breaks the workflows that use it. */

/** The default of `TEMPORAL_TASK_QUEUE`. */
export const DEFAULT_TASK_QUEUE = 'fulfilment';

/** Workflow types. */
export const PURCHASE_WORKFLOW = 'purchaseWorkflow';
export const DELIVER_WORKFLOW = 'deliverWorkflow';
export const RECONCILE_WORKFLOW = 'reconcileWorkflow';

/**
 * The memo field with which the starter marks a start with RejectDuplicate. It proves that no other execution with this
 * workflow id has placed an order.
 */
export const STARTED_WITH_REJECT_DUPLICATE = 'startedWithRejectDuplicate';

/** The query for the state of a purchase. It returns a `StatusQueryResult`. */
export const STATUS_QUERY = 'status';

/** The update that carries an operator's decision on a held purchase. */
export const RESOLVE_UPDATE = 'resolve';

const PURCHASE_ID_PREFIX = 'purchase-';
const DELIVER_ID_PREFIX = 'deliver-';

export function purchaseWorkflowId(referenceId: string): string {
  return `${PURCHASE_ID_PREFIX}${referenceId}`;
}

/** The reference in the workflow id of a purchase; undefined for any other id. */
export function referenceOfPurchase(workflowId: string): string | undefined {
  return afterPrefix(PURCHASE_ID_PREFIX, workflowId);
}

/** The reference in the workflow id of a late delivery; undefined for any other id. */
export function referenceOfDelivery(workflowId: string): string | undefined {
  return afterPrefix(DELIVER_ID_PREFIX, workflowId);
}

/** The reference in either workflow id. */
export function referenceOfWorkflow(workflowId: string): string | undefined {
  return referenceOfPurchase(workflowId) ?? referenceOfDelivery(workflowId);
}

/** Any client can choose a workflow id. One without a valid reference never becomes part of a command or a query. */
function afterPrefix(prefix: string, workflowId: string): string | undefined {
  const rest = workflowId.slice(prefix.length);
  return workflowId.startsWith(prefix) && REFERENCE_PATTERN.test(rest) ? rest : undefined;
}

/** The workflow id of a purchase's late deliveries. All share one id, so only one runs at a time. */
export function deliverWorkflowId(referenceId: string): string {
  return `${DELIVER_ID_PREFIX}${referenceId}`;
}

/** The id of the nightly schedule. The workflow id of each run is this id with the time appended by the server. */
export const RECONCILE_SCHEDULE = 'nightly-reconciliation';

/** The workflow id of a reconciliation started by an operator. All share one id, so only one runs at a time. */
export const RECONCILE_NOW = 'manual-reconciliation';
