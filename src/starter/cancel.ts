import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { purchaseWorkflowId } from '../contracts/names';
import type { HoldNotice } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { PURCHASE_STATE } from '../contracts/search-attributes';
import { createPurchaseReader } from '../temporal/client';
import { NothingToCancelError } from './errors';

/** What a cancel request comes to, from the state in which it finds a purchase. */
export type CancelEffect = 'CANCELLED_UNLESS_BOUGHT' | 'SEEN_THROUGH' | 'STAYS_HELD';

/** A cancel request that Temporal has taken. */
export interface Cancellation {
  referenceId: string;
  workflowId: string;
  /** The state in which it found the purchase. */
  state: string;
  effect: CancelEffect;
  /** The effect in words. */
  explanation: string;
}

const EFFECTS: Record<CancelEffect, string> = {
  CANCELLED_UNLESS_BOUGHT:
    'it ends CANCELLED if surely nothing was bought; an order that is there or on its way is seen through',
  SEEN_THROUGH: 'there is an order: it is seen through, and its result says that a cancel was asked for',
  STAYS_HELD: 'it stays held: something was bought, or nobody knows whether it was, so only a decision ends that',
};

/** What `cancel` of the library does. @throws NothingToCancelError, WorkflowNotFoundError */
export async function cancelPurchase(client: Client, referenceId: string, withinMs: number): Promise<Cancellation> {
  const workflowId = purchaseWorkflowId(referenceId);
  return client.withDeadline(Date.now() + withinMs, async () => {
    const { status, typedSearchAttributes, memo } = await createPurchaseReader(client).describe(referenceId);
    const state = typedSearchAttributes.get(PURCHASE_STATE) ?? 'STARTED';
    if (status.name !== 'RUNNING') {
      throw new NothingToCancelError(referenceId, status.name === 'COMPLETED' ? state : `as ${status.name}`);
    }
    try {
      await client.workflow.getHandle(workflowId).cancel();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new NothingToCancelError(referenceId, 'a moment ago');
      throw error;
    }
    const effect = effectOf(state, holdIn(memo));
    return { referenceId, workflowId, state, effect, explanation: EFFECTS[effect] };
  });
}

function effectOf(state: string, hold?: HoldNotice): CancelEffect {
  if (state === 'PENDING' || state === 'DELIVERING') return 'SEEN_THROUGH';
  return hold && !hold.endsOnCancel ? 'STAYS_HELD' : 'CANCELLED_UNLESS_BOUGHT';
}
