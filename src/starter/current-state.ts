import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { PURCHASE_STATE } from '../contracts/search-attributes';
import { hasResultOrIsRunning, PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';

/**
 * A `PurchaseState`. `STARTED`, only from `status`: no worker has picked the purchase up yet. `ENDED_WITHOUT_RESULT`:
 * the workflow was terminated, failed or timed out; `workflowStatus` says which.
 */
export type CurrentState = PurchaseState | 'STARTED' | 'ENDED_WITHOUT_RESULT';

/** Temporal's status of the workflow, such as `RUNNING`, `COMPLETED`, `FAILED` or `TERMINATED`. */
export type WorkflowStatus = WorkflowExecutionInfo['status']['name'];

/** WorkflowExecutionStarted, WorkflowTaskScheduled, WorkflowTaskStarted: no worker has completed anything. */
const EVENTS_BEFORE_FIRST_STEP = 3;

/**
 * The state that the workflow recorded, unless it was ended from outside: that record is out of date. A list can't tell
 * `STARTED` from `PLACING`, which `purchase` records in advance.
 *
 * @internal
 */
export function listedStateOf({
  status,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): CurrentState {
  if (!hasResultOrIsRunning(status.name)) return 'ENDED_WITHOUT_RESULT';
  const recorded = typedSearchAttributes.get(PURCHASE_STATE);
  return PURCHASE_STATES.find((state) => state === recorded) ?? 'STARTED';
}

/**
 * The same for a single purchase, which also shows whether a worker has picked it up.
 *
 * @internal
 */
export function workflowStateOf(description: WorkflowExecutionDescription): CurrentState {
  const state = listedStateOf(description);
  const { historyLength, raw } = description;
  const isUntouched = raw.pendingWorkflowTask && historyLength <= EVENTS_BEFORE_FIRST_STEP;
  return state === 'PLACING' && isUntouched ? 'STARTED' : state;
}
