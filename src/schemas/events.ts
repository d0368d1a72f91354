import { z } from 'zod';
import type {
  AttentionEvent,
  DeliveryRequest,
  HeldEvent,
  LateDeliveryEvent,
  LaterRefundEvent,
  OutcomeEvent,
  PurchasingEvent,
  ReconciliationCompletedEvent,
  TEST_EVENT,
} from '../contracts/checkout-events';
import { DECISION_KINDS, HOLD_REASONS } from '../contracts/purchase';
import type { EventLine } from '../domain/assess-order';
import type { Key } from '../domain/order';
import type { PurchaseOutcome } from '../domain/outcome';
import { orderId, outcome, reason, referenceId, totalDebit } from './purchase';
import type { AllTrue, Same } from './same';

/** The `type` of an event that a checkout may receive. */
export type EventType = DeliveryRequest['type'] | typeof TEST_EVENT;

/** The `data` that a checkout receives of an event, as deliverEvent makes it. */
type DataOf<Event> = Omit<Event, 'type' | 'at' | 'deduplicationKey' | 'lines'> &
  ('lines' extends keyof Event ? { lines: (Omit<EventLine, 'fingerprints'> & { keys?: Key[] })[] } : unknown);

/** A delivered key. */
export const key = z.object({
  type: z.string().describe('text, image (the value is a data URL, unchecked), or what else the partner sent'),
  value: z.string().describe('Secret.'),
});
/** One product of an event; with keys where some are handed over. */
export const line = z.object({
  productId: z.string(),
  title: z.string().optional(),
  quantity: z.int().describe('What was ordered.'),
  keys: z.array(key).optional(),
});
const lines = z.array(line);

const ofOutcome = z.object({
  referenceId,
  orderId: orderId.optional(),
  outcome,
  lines,
  totalDebit: totalDebit.optional(),
  reason: reason.optional(),
});
const lateDelivery = z.object({
  referenceId,
  orderId,
  outcome: outcome.optional().describe('Only after a reset of the purchase.'),
  lines,
  totalDebit: totalDebit.optional(),
});
const laterRefund = z.object({ referenceId, orderId, totalDebit: totalDebit.optional(), reason });

const held = z.object({
  referenceId,
  orderId: orderId.optional(),
  hold: z.enum(HOLD_REASONS),
  decisions: z.array(z.enum(DECISION_KINDS)).describe('What an operator may decide: node dist/starter.js resolve.'),
  reason,
});

const alert = {
  kind: z.string().describe('What it is about, in capital letters.'),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])),
};
const attention = z.object({
  referenceId: z.string().describe('Empty where no purchase is concerned.'),
  orderId: orderId.optional(),
  ...alert,
});
/** An event about no purchase: what stands for its reference is the name of what it is about. */
const ofNoPurchase = z.object({ referenceId: z.string().describe('None of a sale.'), ...alert });
const ofPurchasing = ofNoPurchase.extend({ reason });
const test = z.object({ referenceId: z.string().describe('None of a sale.') });

interface EventDescription {
  summary: string;
  data: z.ZodType;
}

/** What a checkout may receive, each type with its `data`. */
export const EVENTS: Readonly<Record<EventType, EventDescription>> = {
  'purchase.delivered': ended('DELIVERED', 'Everything that was ordered, with its keys.'),
  'purchase.partially_delivered': ended('PARTIALLY_DELIVERED', 'A part, with its keys; the rest was not there.'),
  'purchase.refunded': {
    summary: 'The partner refunded: as the purchase ended (with outcome and lines), or after its end (with a reason).',
    data: z.union([ofOutcome.extend({ outcome: z.literal('REFUNDED') }), laterRefund]),
  },
  'purchase.failed': ended('FAILED', 'The order failed at the partner. Nothing was handed over.'),
  'purchase.rejected': ended('REJECTED', 'The partner refused the order.'),
  'purchase.not_placed': ended('NOT_PLACED', 'It could not be placed in time, and surely was not.'),
  'purchase.overdue': ended('OVERDUE', 'Still open at the deadline; the keys come as purchase.late_delivery.'),
  'purchase.cancelled': ended('CANCELLED', 'Cancelled where surely nothing was bought.'),
  'purchase.abandoned': ended('ABANDONED', 'An operator gave it up, or withheld it.'),
  'purchase.late_delivery': { summary: 'Keys that came after the end, and only those.', data: lateDelivery },
  'purchase.held': { summary: 'It waits for an operator.', data: held },
  'purchase.attention': { summary: 'Something that a person must see.', data: attention },
  'reconciliation.completed': { summary: 'Counts, and where the report is.', data: ofNoPurchase },
  'purchasing.paused': { summary: 'New purchases wait, and why.', data: ofPurchasing },
  'purchasing.resumed': { summary: 'New purchases are placed again.', data: ofPurchasing },
  'purchasing.test': { summary: 'doctor tries the way. Answer 2xx and forget it.', data: test },
};

function ended(how: PurchaseOutcome, summary: string): EventDescription {
  return { summary, data: ofOutcome.extend({ outcome: z.literal(how) }) };
}

/**
 * Does not compile where a schema and the type that it describes differ in either direction.
 *
 * @public for nobody: so that it counts as used
 */
export type Checked = AllTrue<
  [
    Same<z.infer<typeof ofOutcome>, DataOf<OutcomeEvent>>,
    Same<z.infer<typeof lateDelivery>, DataOf<LateDeliveryEvent>>,
    Same<z.infer<typeof laterRefund>, DataOf<LaterRefundEvent>>,
    Same<z.infer<typeof held>, DataOf<HeldEvent>>,
    Same<z.infer<typeof attention>, DataOf<AttentionEvent>>,
    Same<z.infer<typeof ofNoPurchase>, DataOf<ReconciliationCompletedEvent>>,
    Same<z.infer<typeof ofPurchasing>, DataOf<PurchasingEvent>>,
  ]
>;
