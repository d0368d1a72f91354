import type { EventLine } from '../domain/assess-order';
import type { PurchaseOutcome } from '../domain/outcome';
import type { DecisionKind, HoldReason } from './purchase';

/**
 * An event for the checkout on its way from a workflow to the delivery activity, told apart by `type`. It names keys by
 * their fingerprints; the activity puts the keys in their place. What the checkout receives is `DeliveryEventBody`.
 */
export type DeliveryRequest =
  | OutcomeEvent
  | LateDeliveryEvent
  | LaterRefundEvent
  | HeldEvent
  | AttentionEvent
  | ReconciliationCompletedEvent
  | PurchasingEvent;

interface EventOf<Type extends string> {
  type: Type;
  /** ISO 8601: when it happened, the same for every attempt. */
  at: string;
  referenceId: string;
}

interface PurchaseEventOf<Type extends string> extends EventOf<Type> {
  /** Absent where the partner has no order for this purchase. */
  orderId?: string;
}

/** `purchase.` and the outcome in lower case: how a purchase ended, once. */
export interface OutcomeEvent extends PurchaseEventOf<`purchase.${Lowercase<PurchaseOutcome>}`> {
  outcome: PurchaseOutcome;
  /** What was ordered, with the fingerprints of the keys that are handed over. */
  lines: EventLine[];
  totalDebit?: number;
  reason?: string;
}

/** Keys that no event has named before, after the outcome. */
export interface LateDeliveryEvent extends EventOf<'purchase.late_delivery'> {
  orderId: string;
  /** In a run after a reset: how it ended. */
  outcome?: PurchaseOutcome;
  lines: EventLine[];
  totalDebit?: number;
}

/** An event that hands over keys, or could. */
export type EventWithKeys = OutcomeEvent | LateDeliveryEvent;

/** The partner has given the money back after the purchase had ended. */
export interface LaterRefundEvent extends EventOf<'purchase.refunded'> {
  orderId: string;
  totalDebit?: number;
  reason: string;
  /** The key of the finding that it is about. */
  deduplicationKey: string;
}

/** A purchase waits for an operator. */
export interface HeldEvent extends PurchaseEventOf<'purchase.held'> {
  hold: HoldReason;
  decisions: DecisionKind[];
  reason: string;
  /** The id of the hold: two holds of one purchase are two events. */
  deduplicationKey: string;
}

/** What a person must see but need not decide. */
export interface Alert {
  kind: string;
  details: Record<string, string | number | string[]>;
}

/** An alert for the people behind the checkout. */
export interface AttentionEvent extends PurchaseEventOf<'purchase.attention'>, Alert {
  /** The alert's kind, or the key of the finding that it is about. */
  deduplicationKey: string;
}

/** A reconciliation has ended: its counts, and where its report is. */
export interface ReconciliationCompletedEvent extends EventOf<'reconciliation.completed'>, Alert {
  /** The run of the reconciliation. */
  deduplicationKey: string;
}

/** The type of the event that `doctor` posts to try the way. It is about no purchase; a receiver answers 2xx and forgets it. */
export const TEST_EVENT = 'purchasing.test';
/** New placements wait, or no longer do. `kind` is the brake's reason; its reference is none of a sale: `PURCHASING_REFERENCE`. */
export interface PurchasingEvent extends EventOf<'purchasing.paused' | 'purchasing.resumed'>, Alert {
  reason: string;
  /** Each time that the brake closes is one, and so is each time that it opens. */
  deduplicationKey: string;
}

/** The event that hands over keys which no event has named before. */
export function lateDelivery(late: Omit<LateDeliveryEvent, 'type'>): LateDeliveryEvent {
  const { at, referenceId, orderId, outcome, lines, totalDebit } = late;
  return { type: 'purchase.late_delivery', at, referenceId, orderId, outcome, lines, totalDebit };
}

/** The fingerprints of all keys that an event is to hand over, in its order. */
export function fingerprintsOf(event: DeliveryRequest | { lines: readonly EventLine[] }): string[] {
  return 'lines' in event ? event.lines.flatMap((line) => line.fingerprints) : [];
}

/** The receipt of a delivered event. */
export interface DeliveryReceipt {
  eventId: string;
  /** The event itself, where it was delivered by a local activity: no input of one is on record. */
  request?: DeliveryRequest;
}

/** Whether this is a receipt of `deliverEvent`, which an operator can complete with anything; nothing else counts as delivered. */
export function isDeliveryReceipt(value: unknown): value is DeliveryReceipt {
  if (typeof value !== 'object' || value === null || !('eventId' in value)) return false;
  return typeof value.eventId === 'string' && value.eventId.startsWith('evt_');
}

/** A local activity could not deliver an event for good. A failure would not hold the event, and it has to be on record. */
export interface RefusedDelivery {
  refused: 'DeliveryRefused' | 'KeyGone';
  request: DeliveryRequest;
}

/** An event with keys that another run of a purchase, or a delivery after its end, handed to the checkout or tried to. */
export interface EarlierEvent {
  request: EventWithKeys;
  /** If the checkout has it. */
  eventId?: string;
}
