/** How a purchase ends, and what that means. Source: docs/architecture.md#outcomes. */
const OUTCOME_MEANINGS = {
  DELIVERED: 'everything that was ordered was delivered',
  PARTIALLY_DELIVERED: 'a part was delivered, the rest was not there',
  REFUNDED: 'the partner refunded it; nothing was delivered',
  FAILED: 'the partner could not fulfil it; nothing was delivered',
  REJECTED: 'the partner refused the order; nothing was bought',
  NOT_PLACED: 'it could not be placed in time; nothing was bought',
  OVERDUE: 'the order was still open at the deadline; a reconciliation delivers it when it comes',
  CANCELLED: 'cancelled before anything was bought',
  ABANDONED: 'a person gave it up; nothing was delivered',
};

/** The states of a purchase that runs, as lists show them, and what they mean. */
const RUNNING_MEANINGS = {
  PLACING: 'its order is placed with the partner',
  PAUSED: 'the circuit breaker holds new placements back',
  UNCONFIRMED: 'it is not known whether the partner has taken the order; the order history is searched',
  HELD: 'waits for a person to decide',
  PENDING: 'the partner has the order and has not finished it',
  DELIVERING: 'its event is on its way to the checkout',
};

export type PurchaseOutcome = keyof typeof OUTCOME_MEANINGS;
type RunningState = keyof typeof RUNNING_MEANINGS;

/** Where a purchase stands: the search attribute `PurchaseState`. */
export type PurchaseState = RunningState | PurchaseOutcome;

export const PURCHASE_OUTCOMES = Object.keys(OUTCOME_MEANINGS) as PurchaseOutcome[];
export const RUNNING_STATES = Object.keys(RUNNING_MEANINGS) as RunningState[];
export const PURCHASE_STATES: readonly PurchaseState[] = [...RUNNING_STATES, ...PURCHASE_OUTCOMES];

/** What each state means, for people who see it for the first time. */
export const STATE_MEANINGS: Record<PurchaseState, string> = { ...RUNNING_MEANINGS, ...OUTCOME_MEANINGS };

/** The outcomes after which no key is delivered any more: nothing was bought, it failed, was refunded, or an operator gave it up. */
const WITHOUT_KEYS: readonly string[] = ['FAILED', 'REFUNDED', 'REJECTED', 'NOT_PLACED', 'CANCELLED', 'ABANDONED'];

/** Whether a purchase that ended in this state has no keys to deliver, whatever becomes of its order. */
export function endsWithoutKeys(state: string | undefined): boolean {
  return state !== undefined && WITHOUT_KEYS.includes(state);
}

/** The type of the event by which the checkout learns how a purchase ended, such as `purchase.partially_delivered`. */
export function eventTypeOf(outcome: PurchaseOutcome): `purchase.${Lowercase<PurchaseOutcome>}` {
  return `purchase.${outcome.toLowerCase() as Lowercase<PurchaseOutcome>}`;
}
