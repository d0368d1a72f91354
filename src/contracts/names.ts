/** The task queue unless `TEMPORAL_TASK_QUEUE` says otherwise. */
export const DEFAULT_TASK_QUEUE = 'fulfilment';

export const PURCHASE_WORKFLOW = 'purchaseWorkflow';
export const DELIVER_WORKFLOW = 'deliverWorkflow';

/** The update that carries a person's decision on a held purchase. */
export const RESOLVE_UPDATE = 'resolve';

/** The id of the purchase of a reference: one workflow for each sale. */
export function purchaseWorkflowId(referenceId: string): string {
  return `purchase-${referenceId}`;
}

/** The id of the workflow that delivers one event after the purchase has ended. */
export function deliverWorkflowId(eventId: string): string {
  return `deliver-${eventId}`;
}
