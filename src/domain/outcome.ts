/** How a purchase ends. Source: docs/architecture.md#outcomes. */
export const PURCHASE_OUTCOMES = [
  'DELIVERED',
  'PARTIALLY_DELIVERED',
  'REFUNDED',
  'FAILED',
  'REJECTED',
  'NOT_PLACED',
  'OVERDUE',
  'CANCELLED',
  'ABANDONED',
] as const;

export type PurchaseOutcome = (typeof PURCHASE_OUTCOMES)[number];

/** The outcomes after which no key is delivered any more: nothing was bought, it failed, was refunded, or an operator gave it up. */
const WITHOUT_KEYS: readonly string[] = ['FAILED', 'REFUNDED', 'REJECTED', 'NOT_PLACED', 'CANCELLED', 'ABANDONED'];

/** Whether a purchase that ended in this state has no keys to hand over, whatever becomes of its order. */
export function endsWithoutKeys(state: string | undefined): boolean {
  return state !== undefined && WITHOUT_KEYS.includes(state);
}

/** The type of the event by which the checkout learns how a purchase ended, such as `purchase.partially_delivered`. */
export function eventTypeOf(outcome: PurchaseOutcome): `purchase.${Lowercase<PurchaseOutcome>}` {
  return `purchase.${outcome.toLowerCase() as Lowercase<PurchaseOutcome>}`;
}
