/** The kinds of findings, those first that a person should read first. The order of a report is this order. */
export const FINDING_KINDS = [
  'DOUBLE_PURCHASE',
  'SAME_KEY_TWICE',
  'LOST',
  'LATE',
  'UNDELIVERED',
  'MISSING_AT_PARTNER',
  'ORPHAN',
  'REFUNDED_AFTER_DELIVERY',
  'AMOUNT_MISMATCH',
  'STATUS_MISMATCH',
  'SHORTFALL_FILLED',
  'SHORTFALL_REFUNDED',
  'STUCK',
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** What a person reads about a kind: a heading, what it means, and what to do about it where nothing was mended. */
export const KIND_DOCS: Record<FindingKind, { title: string; means: string; advice: string }> = {
  DOUBLE_PURCHASE: {
    title: 'Bought twice',
    means:
      'The partner has more than one order for one sale. One of them was used; the others cost money and serve nobody.',
    advice: 'Ask the partner to cancel and refund the further orders. Their keys must not be sold while that is open.',
  },
  SAME_KEY_TWICE: {
    title: 'The same key in two purchases',
    means: 'The partner delivered one and the same key for several sales. Only the first customer to use it can.',
    advice: 'Claim a replacement from the partner for every sale but one, and tell the customers before they find out.',
  },
  LOST: {
    title: 'Lost here, alive at the partner',
    means: 'The purchase was stopped, failed or is held here, and its order exists at the partner.',
    advice: 'A reconciliation delivers it as soon as the order is complete. Find out who or what stopped the purchase.',
  },
  LATE: {
    title: 'Delivered late by the partner',
    means: 'The purchase ended as overdue, and the order has keys by now.',
    advice: 'Hand the keys over with `redeliver REFERENCE`.',
  },
  UNDELIVERED: {
    title: 'Paid for, not handed over',
    means: 'The partner has delivered an order in whole or in part, and the checkout did not get what was paid for.',
    advice: 'Decide whether the customer still wants it; else ask the partner for the money.',
  },
  MISSING_AT_PARTNER: {
    title: 'Missing at the partner',
    means: 'A purchase here has an order that the order history of the partner does not show.',
    advice: 'Look for the order with `orders --search ORDER`. If it stays away, ask the partner what became of it.',
  },
  ORPHAN: {
    title: 'Nobody here placed it',
    means: 'The partner has an order that belongs to no purchase of this namespace.',
    advice:
      'Find out who placed it: a person by hand, or another system with the same API key. If nobody did, change the API key.',
  },
  REFUNDED_AFTER_DELIVERY: {
    title: 'Refunded after delivery',
    means: 'The keys were handed over, and the partner has refunded the order since. The keys may not work any more.',
    advice: 'Ask the partner whether the keys were revoked, and make good for the customer if they were.',
  },
  AMOUNT_MISMATCH: {
    title: 'Another amount',
    means: 'The amount that was debited for an order is not the amount that the order history shows for it.',
    advice: 'Compare both amounts with the agreed price and claim the difference.',
  },
  STATUS_MISMATCH: {
    title: 'Another status',
    means: 'How the purchase stands here and how its order stands at the partner do not go together.',
    advice: 'Compare `status REFERENCE` with `orders --search ORDER`. Then settle it with the partner.',
  },
  SHORTFALL_FILLED: {
    title: 'The missing keys came',
    means: 'Only a part was handed over, and the order is complete at the partner by now.',
    advice:
      'It is delivered by a reconciliation that is no dry run. If keys are still missing, claim them from the partner.',
  },
  SHORTFALL_REFUNDED: {
    title: 'The missing keys were refunded',
    means: 'Only a part was handed over, and the partner has given money back for the order since.',
    advice: 'Give the customer back what was not delivered, if that has not been done.',
  },
  STUCK: {
    title: 'Stuck for more than a day',
    means: 'A purchase has been running, or an order has been open at the partner, for longer than a day.',
    advice: 'See with `status REFERENCE` what it waits for.',
  },
};
