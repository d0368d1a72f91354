import type { DecisionKind, HoldReason } from '../domain/holds';
import type { PurchaseItem } from '../domain/order';
import type { PurchaseOutcome } from '../domain/purchase-state';

/*
 * The types that checkouts see, written out: their package must not need zod, not even for its declarations.
 * A test compares each of them with its schema.
 */

/** The one argument of `purchaseWorkflow`: one sale. */
export interface PurchaseInput {
  /** One for each sale, never used again. */
  referenceId: string;
  /** A product may appear only once. */
  items: PurchaseItem[];
  /** The most that the purchase may cost according to the partner's catalogue, which is not read without it. */
  maxDebit?: number | undefined;
}

/** What became of one product of a purchase. */
export interface PurchaseLine {
  productId: string;
  title?: string | undefined;
  /** What was ordered. */
  quantity: number;
  /** The keys that were delivered. */
  delivered: number;
}

/** How a purchase ended. */
export interface PurchaseResult {
  referenceId: string;
  outcome: PurchaseOutcome;
  /** The partner's id of the order; absent if there is none. */
  orderId?: string | undefined;
  lines: PurchaseLine[];
  /** What was debited: the partner's decimal number, in the account's currency. */
  totalDebit?: number | undefined;
  /** Someone asked to cancel when an order could already exist, so the order was completed. */
  cancelRequested?: boolean | undefined;
  /** In words, if the outcome alone does not say it. */
  reason?: string | undefined;
}

/** An event that the checkout has received. */
export interface ReceivedEvent {
  id: string;
  type: string;
  /** ISO 8601: when it was received. */
  at: string;
}

/** What `deliverWorkflow` ends with. */
export interface DeliveryReport {
  /** What the checkout has received. */
  events: ReceivedEvent[];
  /** The order as it was read; `issue` says why its keys were kept back. */
  order?: { id: string; status: string; issue?: string | undefined } | undefined;
}

/** What is shown of a hold. `id` names this hold and no other, also after a reset of the workflow. */
export interface HoldNotice {
  id: string;
  reason: HoldReason;
  explanation: string;
  /** The decisions that fit. */
  decisions: DecisionKind[];
  /** ISO 8601: when it was opened. */
  since: string;
  /** A cancel request ends it, after one more search of the order history: nothing was bought. */
  endsOnCancel?: boolean | undefined;
}

/** What an operator decides. `order` names the partner's order that this purchase is to adopt. */
export type DecisionChoice = { decision: 'order'; orderId: string } | { decision: Exclude<DecisionKind, 'order'> };

/** What a running purchase waits for. Instants are ISO 8601. */
export interface NextStep {
  /** In words. */
  what: string;
  since: string;
  /** When it is over at the latest, if that is known. */
  until?: string | undefined;
}

/** Where a sale stands since a delivery after the end of its purchase, whose own state can't change any more. */
export interface AfterEnd {
  state: PurchaseOutcome;
  /** When that delivery ended, ISO 8601. */
  at: string;
  /** How many keys the checkout has by now, by product. */
  delivered: Record<string, number>;
}

/** A delivered key. Store it by `referenceId`, `productId` and `id`. */
export interface EventKey {
  /** Identifies this key for ever, in every event of the sale. */
  id: string;
  /** `text`, `image` (the value is a data URL, unchecked), or another type that the partner sent. */
  type: string;
  /** Secret. */
  value: string;
}

/** One product of a sale; with keys in the events that carry keys. */
export interface EventLine {
  productId: string;
  title?: string | undefined;
  /** What was ordered. */
  quantity: number;
  keys?: EventKey[] | undefined;
}

/** The sale that an event is about. */
export interface EventSale {
  referenceId: string;
  /** The partner's id of the order; absent if there is none. */
  orderId?: string | undefined;
  lines: EventLine[];
  /** What was debited: the partner's decimal number, in the account's currency. */
  totalDebit?: number | undefined;
}

/** How a purchase ended, as an event says it. */
export interface EventOutcome<O extends PurchaseOutcome = PurchaseOutcome> extends EventSale {
  outcome: O;
  /** In words, if the outcome alone does not say it. */
  reason?: string | undefined;
}

/** Counts, amounts, ids and texts by their names. */
export type EventDetails = Record<string, string | number | string[]>;

/** No lines, so that a receiver can read `event.data.lines ?? []` of every event. */
interface WithoutLines {
  lines?: undefined;
}

interface EventOf<Type extends string, Data> {
  /** The header `webhook-id`: the same for every attempt. */
  id: string;
  type: Type;
  /** ISO 8601: when this attempt was made. */
  timestamp: string;
  data: Data;
}

/** The event with which a purchase ends. */
type EndedEvent<O extends PurchaseOutcome> = EventOf<`purchase.${Lowercase<O>}`, EventOutcome<O>>;

/** Everything that was ordered, with its keys. */
export type PurchaseDelivered = EndedEvent<'DELIVERED'>;
/** A part, with its keys; the rest was not there. */
export type PurchasePartiallyDelivered = EndedEvent<'PARTIALLY_DELIVERED'>;
/** The partner refunded: as the purchase ended (with outcome and lines), or after its end (with a reason). */
export type PurchaseRefunded = EventOf<'purchase.refunded', EventOutcome<'REFUNDED'> | LaterRefund>;
/** The order failed at the partner: no keys, and no debit. */
export type PurchaseFailed = EndedEvent<'FAILED'>;
/** The partner refused the order. Nothing was bought. */
export type PurchaseRejected = EndedEvent<'REJECTED'>;
/** The order could not be placed in time, or would have cost more than `maxDebit`. Nothing was bought. */
export type PurchaseNotPlaced = EndedEvent<'NOT_PLACED'>;
/** Still open at the deadline. The order may be paid; its keys can still come, as `purchase.late_delivery`. */
export type PurchaseOverdue = EndedEvent<'OVERDUE'>;
/** Cancelled before anything was bought. */
export type PurchaseCancelled = EndedEvent<'CANCELLED'>;
/** An operator gave up the purchase or withheld its keys. An order may be paid, but this sale gets no keys from it. */
export type PurchaseAbandoned = EndedEvent<'ABANDONED'>;
/** Keys came after the end: all keys of the sale, old and new. */
export type PurchaseLateDelivery = EventOf<'purchase.late_delivery', EventSale & { orderId: string }>;
/** It waits for an operator. */
export type PurchaseHeld = EventOf<'purchase.held', HeldData>;
/** A person must look at something. */
export type PurchaseAttention = EventOf<'purchase.attention', AttentionData>;
/** The counts of a reconciliation, and where its report is. */
export type ReconciliationCompleted = EventOf<
  'reconciliation.completed',
  WithoutLines & { referenceId: string; kind: 'RECONCILIATION'; details: EventDetails }
>;
/** `doctor` tests the receiver. Answer 2xx and forget it. */
export type DoctorTest = EventOf<'doctor.test', WithoutLines & { referenceId: string }>;

/** A refund after the end of the purchase. */
export interface LaterRefund extends WithoutLines {
  referenceId: string;
  orderId: string;
  totalDebit?: number | undefined;
  reason: string;
}

/** Why a purchase is held. */
export interface HeldData extends WithoutLines {
  referenceId: string;
  orderId?: string | undefined;
  hold: HoldReason;
  /** What an operator may decide with the command `resolve`. */
  decisions: DecisionKind[];
  reason: string;
}

/** What a person must look at. */
export interface AttentionData extends WithoutLines {
  /** Empty if no purchase is concerned. */
  referenceId: string;
  orderId?: string | undefined;
  /** The subject, in capital letters. */
  kind: string;
  details: EventDetails;
}

/** Every event that this version knows. */
export type KnownEvent =
  | PurchaseDelivered
  | PurchasePartiallyDelivered
  | PurchaseRefunded
  | PurchaseFailed
  | PurchaseRejected
  | PurchaseNotPlaced
  | PurchaseOverdue
  | PurchaseCancelled
  | PurchaseAbandoned
  | PurchaseLateDelivery
  | PurchaseHeld
  | PurchaseAttention
  | ReconciliationCompleted
  | DoctorTest;

/**
 * Stands for every type that this version does not know. It exists only for the compiler, so that a `switch` over
 * `type` narrows and needs a `default`.
 */
declare enum LaterType {
  Any = 'a type of a later version',
}

/** An event of a later version. If it has lines with keys, store them like those of any other event. */
export type UnknownEvent = EventOf<
  LaterType.Any,
  { referenceId: string; orderId?: string | undefined; lines?: EventLine[] | undefined }
>;

/** An event that `parseEvent` has verified. */
export type FulfilmentEvent = KnownEvent | UnknownEvent;
