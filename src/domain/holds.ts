/** The decisions that an operator can make on a held purchase. */
export const DECISIONS = ['order', 'replace', 'abandon', 'deliver', 'withhold'] as const;

/**
 * A decision on a held purchase. `order`: adopt the partner's order `orderId`. `replace`: place the order again, which
 * spends money. `abandon`: give up. `deliver`: deliver the order as it is. `withhold`: end without delivering more.
 */
export type Decision = (typeof DECISIONS)[number];

/**
 * Why a decision was refused. `ENDED`: the purchase has ended. `NOT_HELD`: it is not waiting for a decision.
 * `OTHER_HOLD`: another hold is open. `NOT_POSSIBLE`: this hold does not allow the decision. `ALREADY_DECIDED`: the
 * hold has a decision. `ORDER_UNUSABLE`: the named order can't be adopted, or could not be checked.
 */
export type DecisionRefusal = (typeof DECISION_REFUSALS)[number];

export const DECISION_REFUSALS = [
  'ENDED',
  'NOT_HELD',
  'OTHER_HOLD',
  'NOT_POSSIBLE',
  'ALREADY_DECIDED',
  'ORDER_UNUSABLE',
] as const;

/** The reasons for a hold, each with the possible decisions. Source: docs/operations.md#holds. */
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

/**
 * Why a purchase is held. `PLACEMENT_UNKNOWN`: there may be an order. `OTHER_ITEMS`: the order has other items.
 * `ORDER_OF_ANOTHER_PURCHASE`: two purchases have the same order. `MORE_KEYS_THAN_ORDERED`: some may be someone else's.
 * `ORDER_CHANGES`: the order keeps changing, or has keys after the checkout was told that it has none.
 * `ORDER_TOO_LARGE`: its keys can't be read. `DELIVERY_REFUSED`: the checkout returned 410. `DELIVERY_EXHAUSTED`: no
 * event was confirmed for 25 hours.
 */
export type HoldReason = keyof typeof POSSIBLE_DECISIONS;

export const HOLD_REASONS = Object.keys(POSSIBLE_DECISIONS) as HoldReason[];
