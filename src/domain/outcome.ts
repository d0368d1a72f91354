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

/** The type of the event by which the checkout learns how a purchase ended, such as `purchase.partially_delivered`. */
export function eventTypeOf(outcome: PurchaseOutcome): `purchase.${Lowercase<PurchaseOutcome>}` {
  return `purchase.${outcome.toLowerCase() as Lowercase<PurchaseOutcome>}`;
}
