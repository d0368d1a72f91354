import { PURCHASE_OUTCOMES, type PurchaseOutcome } from './outcome';

/**
 * The states of a purchase that runs, as lists show them. `PAUSED`: the brake holds new placements back. `PENDING`: its order is open,
 * whatever the partner calls that.
 */
export const RUNNING_STATES = ['PLACING', 'PAUSED', 'UNCONFIRMED', 'HELD', 'PENDING', 'DELIVERING'] as const;

/** Where a running purchase stands. */
type RunningState = (typeof RUNNING_STATES)[number];

/** Where a purchase stands: the search attribute `PurchaseState`. */
export type PurchaseState = RunningState | PurchaseOutcome;

export const PURCHASE_STATES: readonly PurchaseState[] = [...RUNNING_STATES, ...PURCHASE_OUTCOMES];

/** What each state means, for people who see it for the first time. */
export const STATE_MEANINGS: Record<PurchaseState, string> = {
  PLACING: 'its order is placed with the partner',
  PAUSED: 'the brake holds new placements back',
  UNCONFIRMED: 'it is not known whether the partner has taken the order; the order history is searched',
  HELD: 'waits for a person to decide',
  PENDING: 'the partner has the order and has not finished it',
  DELIVERING: 'its event is on its way to the checkout',
  DELIVERED: 'everything that was ordered was handed over',
  PARTIALLY_DELIVERED: 'a part was handed over, the rest was not there',
  REFUNDED: 'the partner refunded it; nothing was handed over',
  FAILED: 'the partner could not fulfil it; nothing was handed over',
  REJECTED: 'the partner refused the order; nothing was bought',
  NOT_PLACED: 'it could not be placed in time; nothing was bought',
  OVERDUE: 'the order was still open at the deadline; a reconciliation delivers it when it comes',
  CANCELLED: 'cancelled before anything was bought',
  ABANDONED: 'a person gave it up; nothing was handed over',
};
