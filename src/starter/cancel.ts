import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { purchaseWorkflowId } from '../contracts/names';
import { createPurchaseReader } from '../temporal/client';
import { NothingToCancelError } from './errors';
import { type CurrentState, workflowStateOf } from './current-state';

/**
 * The effect of a cancel request. `CANCELLED_UNLESS_BOUGHT`: the purchase ends `CANCELLED`, unless an order exists or may
 * exist. `ORDER_COMPLETES`: its order is completed and delivered. `STAYS_HELD`: it stays held until an operator decides.
 */
export type CancelEffect = 'CANCELLED_UNLESS_BOUGHT' | 'ORDER_COMPLETES' | 'STAYS_HELD';

/** A cancel request that Temporal has accepted. */
export interface Cancellation {
  referenceId: string;
  workflowId: string;
  /** The state of the purchase just before the request. */
  state: CurrentState;
  effect: CancelEffect;
  /** The effect in words. */
  explanation: string;
}

const EFFECTS: Record<CancelEffect, string> = {
  CANCELLED_UNLESS_BOUGHT: 'it ends CANCELLED if no order can exist; otherwise its order is completed, or it is held',
  ORDER_COMPLETES: 'it already has an order, so the order is completed; the result records the cancel request',
  STAYS_HELD: 'it stays held, because there may be an order; only a decision ends the hold, and nothing more is bought',
};

/**
 * @throws NothingToCancelError, WorkflowNotFoundError
 * @internal
 */
export async function cancelPurchase(client: Client, referenceId: string): Promise<Cancellation> {
  const workflowId = purchaseWorkflowId(referenceId);
  const description = await createPurchaseReader(client).describe(referenceId);
  const { status } = description;
  const state = workflowStateOf(description);
  if (status.name !== 'RUNNING') {
    throw new NothingToCancelError(referenceId, `as ${status.name === 'COMPLETED' ? state : status.name}`);
  }
  try {
    await client.workflow.getHandle(workflowId).cancel();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NothingToCancelError(referenceId, 'a moment ago');
    throw error;
  }
  const effect = effectOf(state);
  return { referenceId, workflowId, state, effect, explanation: EFFECTS[effect] };
}

function effectOf(state: CurrentState): CancelEffect {
  if (state === 'PENDING' || state === 'DELIVERING') return 'ORDER_COMPLETES';
  return state === 'HELD' ? 'STAYS_HELD' : 'CANCELLED_UNLESS_BOUGHT';
}
