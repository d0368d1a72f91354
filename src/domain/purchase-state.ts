// `as const` makes the meanings visible in the declarations of the library for checkouts.
/** The outcomes of a purchase and their meanings. Source: docs/architecture.md#outcomes. */
const OUTCOME_MEANINGS = {
  DELIVERED: 'everything ordered was delivered',
  PARTIALLY_DELIVERED: 'some keys were delivered; the rest was unavailable',
  REFUNDED: 'the partner refunded the order; keys may have arrived before',
  FAILED: 'the partner could not fulfil the order; keys may have arrived before',
  REJECTED: 'the partner rejected the order',
  NOT_PLACED: 'the order could not be placed in time, or would have cost too much',
  OVERDUE: 'the order was still open at the deadline',
  CANCELLED: 'cancelled before anything was bought',
  ABANDONED: 'given up or withheld by an operator; keys may have arrived before',
} as const;

/** The states of a running purchase and their meanings. */
const RUNNING_MEANINGS = {
  PLACING: 'its order is being placed with the partner',
  PAUSED: 'the circuit breaker is open, so new placements are paused',
  UNCONFIRMED: 'it is unknown whether the partner accepted the order, so the order history is searched',
  HELD: 'an operator must decide',
  PENDING: 'the partner has the order but has not completed it',
  DELIVERING: 'its event is being sent to the checkout',
} as const;

/** How a purchase ended. Only `DELIVERED` means that everything was delivered. */
export type PurchaseOutcome = keyof typeof OUTCOME_MEANINGS;
type RunningState = keyof typeof RUNNING_MEANINGS;

/**
 * The state of a purchase. Running: `PLACING`, `PAUSED` until the partner accepts orders again, `UNCONFIRMED` while it is
 * unknown whether an order exists, `HELD` until an operator decides, `PENDING` while the partner has the order,
 * `DELIVERING`. Otherwise how it ended.
 */
export type PurchaseState = RunningState | PurchaseOutcome;

export const PURCHASE_OUTCOMES = Object.keys(OUTCOME_MEANINGS) as PurchaseOutcome[];
export const RUNNING_STATES = Object.keys(RUNNING_MEANINGS) as RunningState[];
export const PURCHASE_STATES: readonly PurchaseState[] = [...RUNNING_STATES, ...PURCHASE_OUTCOMES];

/** What each state means, for readers who see it for the first time. Each text completes a sentence. */
export const STATE_MEANINGS: Record<PurchaseState, string> = { ...RUNNING_MEANINGS, ...OUTCOME_MEANINGS };

/** The outcomes after which no more keys are delivered. */
const WITHOUT_KEYS: readonly string[] = ['FAILED', 'REFUNDED', 'REJECTED', 'NOT_PLACED', 'CANCELLED', 'ABANDONED'];

/** Whether a purchase that ended in this state never delivers keys, whatever happens to its order. */
export function isKeylessOutcome(state: string | undefined): boolean {
  return state !== undefined && WITHOUT_KEYS.includes(state);
}

/** Whether an event of this type tells the checkout that the sale has no keys, so that it may refund the customer. */
export function isKeylessEvent(type: string): boolean {
  return PURCHASE_OUTCOMES.some((outcome) => isKeylessOutcome(outcome) && eventTypeOf(outcome) === type);
}

/** Whether a purchase that ended in this state may still get keys from its order. */
export function mayGetMoreKeys(state: string | undefined): boolean {
  return state === 'OVERDUE' || state === 'PARTIALLY_DELIVERED';
}

/** The type of the event for an outcome, such as `purchase.partially_delivered`. */
export function eventTypeOf(outcome: PurchaseOutcome): `purchase.${Lowercase<PurchaseOutcome>}` {
  return `purchase.${outcome.toLowerCase() as Lowercase<PurchaseOutcome>}`;
}

/** @param execution a workflow's status, such as TERMINATED */
export function hasResultOrIsRunning(execution: string): boolean {
  return execution === 'RUNNING' || execution === 'COMPLETED';
}
