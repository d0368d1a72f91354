import { z } from 'zod';
import { DECISION_KINDS, HOLD_REASONS } from '../domain/holds';
import type { PurchaseOutcome } from '../domain/purchase-state';
import { orderId, outcome, reason, referenceId, totalDebit } from './purchase';

/*
 * What the checkout receives: one schema per event gives the type, the check of what came, and docs/schemas/events.openapi.json.
 * The objects are loose, because fields and types may be added.
 */

/** A delivered key. */
export const eventKey = z.looseObject({
  id: z.string().describe('Identifies this key for ever, in every event of the sale.'),
  type: z.string().describe('text, image (the value is a data URL, unchecked), or another type that the partner sent'),
  value: z.string().describe('Secret.'),
});

/** One product of a sale; with keys in the events that carry keys. */
export const eventLine = z.looseObject({
  productId: z.string().describe("The partner's id of the product."),
  title: z.string().optional().describe("The partner's name of the product."),
  quantity: z.int().describe('What was ordered.'),
  keys: z.array(eventKey).optional().describe('All keys of this product, in the events that carry keys.'),
});

const sale = {
  referenceId,
  orderId: orderId.optional(),
  lines: z.array(eventLine).describe('The products of the sale.'),
  totalDebit: totalDebit.optional(),
};
const ofOutcome = z.looseObject({ ...sale, outcome, reason: reason.optional() });
const lateDelivery = z.looseObject({ ...sale, orderId });
const laterRefund = z.looseObject({ referenceId, orderId, totalDebit: totalDebit.optional(), reason });
const held = z.looseObject({
  referenceId,
  orderId: orderId.optional(),
  hold: z.enum(HOLD_REASONS).describe('The kind of hold.'),
  decisions: z.array(z.enum(DECISION_KINDS)).describe('What an operator may decide with the command `resolve`.'),
  reason,
});
const details = z
  .record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
  .describe('Counts, amounts, ids and texts by their names.');
const attention = z.looseObject({
  referenceId: z.string().describe('Empty if no purchase is concerned.'),
  orderId: orderId.optional(),
  kind: z.string().describe('The subject, in capital letters.'),
  details,
});
const reconciled = z.looseObject({
  referenceId: z.string().describe('No reference of a sale.'),
  kind: z.literal('RECONCILIATION'),
  details,
});
const test = z.looseObject({ referenceId: z.string().describe('No reference of a sale.') });

/** Every event with its `data`, and one sentence about it. */
export const EVENTS = {
  'purchase.delivered': ended('DELIVERED', 'Everything that was ordered, with its keys.'),
  'purchase.partially_delivered': ended(
    'PARTIALLY_DELIVERED',
    'A part of it, with its keys. The rest was not available.',
  ),
  'purchase.refunded': {
    summary:
      'The partner refunded the order, either as the purchase ended (with outcome and lines) or later (with a reason).',
    data: z.union([ofOutcome.extend({ outcome: z.literal('REFUNDED') }), laterRefund]),
  },
  'purchase.failed': ended('FAILED', 'The order failed at the partner. Nothing was delivered.'),
  'purchase.rejected': ended('REJECTED', 'The partner refused the order.'),
  'purchase.not_placed': ended('NOT_PLACED', 'The order could not be placed in time. Nothing was bought.'),
  'purchase.overdue': ended('OVERDUE', 'Still open at the deadline. The keys follow as purchase.late_delivery.'),
  'purchase.cancelled': ended('CANCELLED', 'Cancelled before anything was bought.'),
  'purchase.abandoned': ended('ABANDONED', 'An operator gave it up, or withheld it.'),
  'purchase.late_delivery': {
    summary: 'Keys came after the end: all keys of the sale, old and new.',
    data: lateDelivery,
  },
  'purchase.held': { summary: 'The purchase waits for an operator.', data: held },
  'purchase.attention': { summary: 'A person must look at something.', data: attention },
  'reconciliation.completed': { summary: 'The counts of a reconciliation, and where its report is.', data: reconciled },
  'doctor.test': { summary: 'The command doctor tests the receiver. Answer 2xx and forget it.', data: test },
} as const;

function ended<O extends PurchaseOutcome>(how: O, summary: string) {
  return { summary, data: ofOutcome.extend({ outcome: z.literal(how) }) };
}

/** The `type` of an event. */
export type EventType = keyof typeof EVENTS;

/** An event, whatever its type: the body that is posted. */
export const checkoutEvent = z.looseObject({
  type: z.string(),
  /** ISO 8601: when it happened. */
  timestamp: z.string(),
  data: z.looseObject({ referenceId: z.string(), orderId: orderId.optional(), lines: z.array(eventLine).optional() }),
});

export type CheckoutEvent = z.infer<typeof checkoutEvent>;
export type EventLine = z.infer<typeof eventLine>;
export type HeldData = z.infer<typeof held>;
export type AttentionData = z.infer<typeof attention>;
export type EventDetails = z.infer<typeof details>;
