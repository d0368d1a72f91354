import type { WorkflowExecutionInfo } from '@temporalio/client';
import { PURCHASE_STATE } from '../contracts/search-attributes';
import { PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';
import { hasResultOrIsRunning } from '../temporal/client';

/**
 * A `PurchaseState`, or `STARTED` until a worker picks the purchase up. `ENDED_WITHOUT_RESULT`: the workflow was
 * terminated, or its input was invalid; `execution` says which.
 */
export type ShownState = PurchaseState | 'STARTED' | 'ENDED_WITHOUT_RESULT';

/** If a workflow was ended from outside, the state that it recorded last is out of date. */
export function shownStateOf({
  status,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): ShownState {
  if (!hasResultOrIsRunning(status.name)) return 'ENDED_WITHOUT_RESULT';
  const recorded = typedSearchAttributes.get(PURCHASE_STATE);
  return PURCHASE_STATES.find((state) => state === recorded) ?? 'STARTED';
}
