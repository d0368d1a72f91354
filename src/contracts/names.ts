import type { Activities } from './activities';
import type { BrakeActivities } from './brake';
import type { Decision } from './purchase';
import type { ReconcileActivities } from './reconciliation';
import type { WatchActivities } from './watch';

/**
 * Every name and id by which this project and Temporal know a thing: task queue, workflow types and ids, the update, the
 * query, the signals, the activities, the schedule. None of them may change while a workflow runs that was started under it.
 */

/** The task queue unless `TEMPORAL_TASK_QUEUE` says otherwise. */
export const DEFAULT_TASK_QUEUE = 'fulfilment';

/** Workflow types. */
export const PURCHASE_WORKFLOW = 'purchaseWorkflow';
export const DELIVER_WORKFLOW = 'deliverWorkflow';
export const RECONCILE_WORKFLOW = 'reconcileWorkflow';
export const WATCH_WORKFLOW = 'watchWorkflow';
export const BRAKE_WORKFLOW = 'brakeWorkflow';

/** The activities, as histories and the Temporal UI show them. */
export const ACTIVITY = {
  readSettings: 'readSettings',
  currentRun: 'currentRun',
  placeOrder: 'placeOrder',
  findOrders: 'findOrders',
  awaitOrderChange: 'awaitOrderChange',
  getOrder: 'getOrder',
  checkOrder: 'checkOrder',
  planDelivery: 'planDelivery',
  deliverEvent: 'deliverEvent',
  reconcileOrders: 'reconcileOrders',
  watchOrders: 'watchOrders',
  nextPaused: 'nextPaused',
  wakePaused: 'wakePaused',
  notifyPurchasing: 'notifyPurchasing',
} as const satisfies { [Name in keyof (Activities & ReconcileActivities & WatchActivities & BrakeActivities)]: Name };

/** The query that answers where a purchase stands: a `StatusAnswer`. */
export const STATUS_QUERY = 'status';

/** The update that carries an operator's decision on a held purchase. */
export const RESOLVE_UPDATE = 'resolve';

/**
 * The id of that update: the same decision on the same hold is one update, whoever sends it and how often. An order is
 * read anew each time it is named, because the partner may have been away the time before: such an update has no id that
 * follows from it, and the client makes one.
 */
export function resolveUpdateId({ hold, decision }: Decision): string | undefined {
  return decision === 'order' ? undefined : `${hold} ${decision}`;
}

/** The signal by which the watcher wakes a purchase. */
export const ORDER_CHANGED_SIGNAL = 'orderChanged';

/** The signal that keeps the watcher running, or starts it: some purchase has just begun to wait. */
export const KEEP_WATCHING_SIGNAL = 'keepWatching';

/** The signal by which workers report their placements to the brake; what went wrong also starts it. */
export const REPORT_PLACEMENTS_SIGNAL = 'reportPlacements';

/** The signal by which the brake has a purchase that waits ask again. */
export const RESUME_PLACING_SIGNAL = 'resumePlacing';

/** What stands for the reference in an event about all purchases. */
export const PURCHASING_REFERENCE = 'purchasing';

const PURCHASE_ID_PREFIX = 'purchase-';
const DELIVER_ID_PREFIX = 'deliver-';

/** The id of the purchase of a reference: one workflow for each sale. */
export function purchaseWorkflowId(referenceId: string): string {
  return `${PURCHASE_ID_PREFIX}${referenceId}`;
}

/** The reference of the purchase with this workflow id. */
export function referenceIdOfWorkflow(workflowId: string): string {
  return withoutPrefix(workflowId, PURCHASE_ID_PREFIX);
}

/** The reference of the purchase, or of the delivery after its end, with this workflow id; undefined where the id holds none. */
export function referenceOfWorkflow(workflowId: string): string | undefined {
  const prefix = [PURCHASE_ID_PREFIX, DELIVER_ID_PREFIX].find((one) => workflowId.startsWith(one));
  return prefix === undefined || eventIdOfWorkflow(workflowId) !== undefined
    ? undefined
    : workflowId.slice(prefix.length);
}

/**
 * The id of the workflow that delivers after the end of a purchase. With keys it is made of the reference: of two deliveries
 * at once neither knew what the other sends. An event without keys has an id of its own, made of the event's.
 */
export function deliverWorkflowId(of: { referenceId: string } | { eventId: string }): string {
  return `${DELIVER_ID_PREFIX}${'eventId' in of ? of.eventId : of.referenceId}`;
}

/** The event that the delivery with this workflow id was started for; undefined where its id is made of a reference. */
export function eventIdOfWorkflow(workflowId: string): string | undefined {
  const id = withoutPrefix(workflowId, DELIVER_ID_PREFIX);
  return isEventId(id) ? id : undefined;
}

/** The id of the watcher: one for each task queue of a namespace. */
export function watchWorkflowId(taskQueue: string): string {
  return `watch-${taskQueue}`;
}

/** The id of the brake: one for each task queue of a namespace. */
export function brakeWorkflowId(taskQueue: string): string {
  return `brake-${taskQueue}`;
}

/** The id of the nightly schedule. The server adds the time to it for the id of each run. */
export const RECONCILE_SCHEDULE = 'nightly-reconciliation';

/** The workflow id of the reconciliation that an operator starts: one at a time. */
export const RECONCILE_NOW = 'manual-reconciliation';

/** A reference never has an underscore: `REFERENCE_PATTERN`. */
function isEventId(id: string): boolean {
  return id.startsWith('evt_');
}

function withoutPrefix(id: string, prefix: string): string {
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}
