/** Why a purchase waits for an operator. */
export const HOLD_REASONS = [
  'PLACEMENT_UNKNOWN',
  'OTHER_ITEMS',
  'ORDER_OF_ANOTHER_PURCHASE',
  'MORE_KEYS_THAN_ORDERED',
  'ORDER_CHANGES',
  'DELIVERY_REFUSED',
  'DELIVERY_EXHAUSTED',
] as const;

export type HoldReason = (typeof HOLD_REASONS)[number];

/** What an operator may decide on a held purchase. */
export const DECISION_KINDS = ['order', 'replace', 'abandon', 'deliver', 'withhold'] as const;

export type DecisionKind = (typeof DECISION_KINDS)[number];

/** Which decisions fit which hold. Source: docs/architecture.md#decisions-of-operators. */
export const FITTING_DECISIONS: Readonly<Record<HoldReason, readonly DecisionKind[]>> = {
  PLACEMENT_UNKNOWN: ['order', 'replace', 'abandon'],
  OTHER_ITEMS: ['order', 'abandon', 'deliver'],
  ORDER_OF_ANOTHER_PURCHASE: ['order', 'abandon', 'deliver'],
  MORE_KEYS_THAN_ORDERED: ['deliver', 'withhold'],
  ORDER_CHANGES: ['deliver', 'withhold'],
  DELIVERY_REFUSED: ['deliver', 'withhold'],
  DELIVERY_EXHAUSTED: ['deliver', 'withhold'],
};
