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
  type: z.string().describe('text, image (the value is a data URL, unchecked), or what else the partner sent'),
  value: z.string().describe('Secret.'),
});

/** One product of a sale; with keys in the events that carry keys. */
export const eventLine = z.looseObject({
  productId: z.string(),
  title: z.string().optional(),
  quantity: z.int().describe('What was ordered.'),
  keys: z.array(eventKey).optional(),
});

const sale = {
  referenceId,
  orderId: orderId.optional(),
  lines: z.array(eventLine),
  totalDebit: totalDebit.optional(),
};
const ofOutcome = z.looseObject({ ...sale, outcome, reason: reason.optional() });
const lateDelivery = z.looseObject({ ...sale, orderId });
const laterRefund = z.looseObject({ referenceId, orderId, totalDebit: totalDebit.optional(), reason });
const held = z.looseObject({
  referenceId,
  orderId: orderId.optional(),
  hold: z.enum(HOLD_REASONS),
  decisions: z.array(z.enum(DECISION_KINDS)).describe('What an operator may decide with the command `resolve`.'),
  reason,
});
const details = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]));
const attention = z.looseObject({
  referenceId: z.string().describe('Empty if no purchase is concerned.'),
  orderId: orderId.optional(),
  kind: z.string().describe('What it is about, in capital letters.'),
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
  'purchase.partially_delivered': ended('PARTIALLY_DELIVERED', 'A part, with its keys; the rest was not there.'),
  'purchase.refunded': {
    summary: 'The partner refunded: as the purchase ended (with outcome and lines), or after its end (with a reason).',
    data: z.union([ofOutcome.extend({ outcome: z.literal('REFUNDED') }), laterRefund]),
  },
  'purchase.failed': ended('FAILED', 'The order failed at the partner. Nothing was delivered.'),
  'purchase.rejected': ended('REJECTED', 'The partner refused the order.'),
  'purchase.not_placed': ended('NOT_PLACED', 'It could not be placed in time, and was not.'),
  'purchase.overdue': ended('OVERDUE', 'Still open at the deadline; the keys come as purchase.late_delivery.'),
  'purchase.cancelled': ended('CANCELLED', 'Cancelled before anything was bought.'),
  'purchase.abandoned': ended('ABANDONED', 'An operator gave it up, or withheld it.'),
  'purchase.late_delivery': {
    summary: 'Keys came after the end: all keys of the sale, old and new.',
    data: lateDelivery,
  },
  'purchase.held': { summary: 'It waits for an operator.', data: held },
  'purchase.attention': { summary: 'Something that a person must see.', data: attention },
  'reconciliation.completed': { summary: 'Counts, and where the report is.', data: reconciled },
  'doctor.test': { summary: 'doctor tries the way. Answer 2xx and forget it.', data: test },
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
