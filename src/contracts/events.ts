import { z } from 'zod';
import { DECISIONS, HOLD_REASONS } from '../domain/holds';
import type { PurchaseOutcome } from '../domain/purchase-state';
import { orderId, outcome, reason, referenceId, totalDebit } from './purchase';

/*
 * The events that the checkout receives. One schema per event gives the type, the runtime check and
 * docs/schemas/events.openapi.json. The objects are loose, because fields may be added.
 */

/** A delivered key. */
export const eventKey = z.looseObject({
  id: z.string().describe('Identifies this key permanently, in every event of the sale.'),
  type: z
    .string()
    .describe('text, image (the value is an unchecked data URL), or any other type that the partner sent'),
  value: z.string().describe('The code, or a data URL. Secret: never log it.'),
});

/** One product of a sale. `keys` is present only in events that carry keys. */
export const eventLine = z.looseObject({
  productId: z.string().describe("The partner's id of the product."),
  title: z.string().optional().describe("The partner's name for the product."),
  quantity: z.int().describe('The number ordered.'),
  keys: z.array(eventKey).optional().describe('All keys of this product. Present only in events that carry keys.'),
});

const sale = {
  referenceId,
  orderId: orderId.optional(),
  lines: z.array(eventLine).describe('The products of the sale.'),
  totalDebit: totalDebit.optional(),
};
const ofOutcome = z.looseObject({ ...sale, outcome, reason: reason.optional() });
const lateDelivery = z.looseObject({ ...sale, orderId });
const lateRefund = z.looseObject({ referenceId, orderId, totalDebit: totalDebit.optional(), reason });
const held = z.looseObject({
  referenceId,
  orderId: orderId.optional(),
  reason: z.enum(HOLD_REASONS).describe('Why the purchase is held.'),
  explanation: z.string().describe('Why the purchase is held, in a human-readable form.'),
  decisions: z
    .array(z.enum(DECISIONS))
    .describe('The decisions that an operator can take with `npx fulfilment resolve`.'),
});
const details = z
  .record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
  .describe('Counts, amounts, ids and texts by name.');
const attention = z.looseObject({
  referenceId: z.string().describe('Empty if the event is not about a purchase.'),
  orderId: orderId.optional(),
  kind: z.string().describe('The kind of finding or notice, in capital letters.'),
  details,
});
const reconciled = z.looseObject({
  referenceId: z.string().describe('Not the reference of a sale.'),
  kind: z.literal('RECONCILIATION'),
  details,
});
const test = z.looseObject({ referenceId: z.string().describe('Not the reference of a sale.') });

/** Every event, with the schema of its `data` and a summary. */
export const EVENTS = {
  'purchase.delivered': ended('DELIVERED', 'Everything was delivered. Contains the keys.'),
  'purchase.partially_delivered': ended(
    'PARTIALLY_DELIVERED',
    'Part of the order was delivered; the rest was unavailable. Contains the keys, if there are any.',
  ),
  'purchase.refunded': {
    summary:
      'The partner refunded the order: either as the outcome (with outcome and lines), or after the purchase ended (with a reason).',
    data: z.union([ofOutcome.extend({ outcome: outcomeOf('REFUNDED') }), lateRefund]),
  },
  'purchase.failed': ended('FAILED', 'The order failed at the partner.'),
  'purchase.rejected': ended('REJECTED', 'The partner rejected the order.'),
  'purchase.not_placed': ended(
    'NOT_PLACED',
    'The order could not be placed in time, or would have cost more than `maxDebit`.',
  ),
  'purchase.overdue': ended(
    'OVERDUE',
    'At the deadline, the order was still open or could not be read. Late keys arrive as purchase.late_delivery.',
  ),
  'purchase.cancelled': ended('CANCELLED', 'Cancelled before anything was bought.'),
  'purchase.abandoned': ended('ABANDONED', 'An operator abandoned the purchase or withheld its keys.'),
  'purchase.late_delivery': {
    summary: 'Keys arrived after the purchase ended. Contains all keys of the sale, old and new.',
    data: lateDelivery,
  },
  'purchase.held': { summary: 'The purchase is waiting for an operator.', data: held },
  'purchase.attention': {
    summary: 'Something needs attention: a finding, or a notice of a purchase.',
    data: attention,
  },
  'reconciliation.completed': {
    summary: 'A reconciliation has finished. Contains its counts and the location of its report.',
    data: reconciled,
  },
  'doctor.test': { summary: 'A test event from `npx fulfilment doctor`. Respond with 2xx and ignore it.', data: test },
} as const;

function ended<O extends PurchaseOutcome>(how: O, summary: string) {
  return { summary, data: ofOutcome.extend({ outcome: outcomeOf(how) }) };
}

function outcomeOf<O extends PurchaseOutcome>(how: O) {
  return z.literal(how).describe('How the purchase ended: the event type in capital letters, without `purchase.`.');
}

/** The `type` of an event. */
export type EventType = keyof typeof EVENTS;

/** The posted body of any event. */
export const checkoutEvent = z.looseObject({
  type: z.string(),
  /** ISO 8601: when this attempt was made. */
  timestamp: z.string(),
  data: z.looseObject({ referenceId: z.string(), orderId: orderId.optional(), lines: z.array(eventLine).optional() }),
});

export type CheckoutEvent = z.infer<typeof checkoutEvent>;
export type EventLine = z.infer<typeof eventLine>;
export type HeldData = z.infer<typeof held>;
export type AttentionData = z.infer<typeof attention>;
export type EventDetails = z.infer<typeof details>;
