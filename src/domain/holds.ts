/** The decisions that an operator can make on a held purchase. */
export const DECISIONS = ['order', 'replace', 'abandon', 'deliver', 'withhold'] as const;

export type Decision = (typeof DECISIONS)[number];

/** The reasons for a hold, each with the possible decisions. Source: docs/architecture.md#decisions-of-operators. */
export const POSSIBLE_DECISIONS = {
  PLACEMENT_UNKNOWN: ['order', 'replace', 'abandon'],
  OTHER_ITEMS: ['order', 'abandon', 'deliver'],
  ORDER_OF_ANOTHER_PURCHASE: ['order', 'abandon', 'deliver'],
  MORE_KEYS_THAN_ORDERED: ['deliver', 'withhold'],
  ORDER_CHANGES: ['deliver', 'withhold'],
  ORDER_TOO_LARGE: ['deliver', 'withhold'],
  DELIVERY_REFUSED: ['deliver', 'withhold'],
  DELIVERY_EXHAUSTED: ['deliver', 'withhold'],
} satisfies Record<string, readonly Decision[]>;

export type HoldReason = keyof typeof POSSIBLE_DECISIONS;

export const HOLD_REASONS = Object.keys(POSSIBLE_DECISIONS) as HoldReason[];
