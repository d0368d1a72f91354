import type { FindingKind } from '../domain/reconciliation/finding';
import type { Decision, HoldReason } from '../domain/holds';
import type { PurchaseItem } from '../domain/purchase-item';
import type { PurchaseOutcome } from '../domain/purchase-state';

/*
 * The types that checkouts see. They are written out so that the package doesn't need zod, even for its declarations.
 * A test compares each type with its schema.
 */

/** The only argument of `purchaseWorkflow`: one sale. */
export interface PurchaseInput {
  /**
   * Identifies the sale. Use one reference per sale: retry with the same one, and never use it for another sale. 1 to
   * 100 characters: letters, digits and . _ ~ : -, beginning with a letter or digit.
   */
  referenceId: string;
  /** Each product may appear only once. */
  items: readonly PurchaseItem[];
  /**
   * The most that the whole sale may cost at the partner's catalogue prices, a decimal number in the catalogue's
   * currency: 9.99, not 999 cents. If the price is higher or unknown, nothing is ordered (`NOT_PLACED`). If absent, the
   * price is not checked.
   */
  maxDebit?: number | undefined;
}

/** One product of a purchase, and how many of its keys were delivered. */
export interface PurchaseLine {
  productId: string;
  title?: string | undefined;
  /** How many were ordered. */
  quantity: number;
  /** How many keys were delivered. */
  delivered: number;
}

/** How a purchase ended. */
export interface PurchaseResult {
  referenceId: string;
  outcome: PurchaseOutcome;
  /** The partner's id of the order; absent if there is none. */
  orderId?: string | undefined;
  lines: PurchaseLine[];
  /** The amount debited, in the account's currency: the partner's decimal number, such as 98.4, as received. */
  totalDebit?: number | undefined;
  /** True if a cancel request had no effect, because an order may already have existed. */
  cancelRequested?: boolean | undefined;
  /** A sentence, if the outcome alone is not clear. Free text: never compare it. */
  reason?: string | undefined;
}

/** An event that the checkout has received. */
export interface ReceivedEvent {
  id: string;
  type: KnownEvent['type'] | OtherText;
  /** ISO 8601: when it was received. */
  at: string;
}

/** The result of `deliverWorkflow`. */
export interface DeliveryResult {
  /** The events that the checkout received. */
  events: ReceivedEvent[];
  /** The order as it was read. `issue` says why its keys were withheld. */
  order?: { id: string; status: string; issue?: string | undefined } | undefined;
}

/** A hold, as shown to operators. The `id` is unique, even after a reset of the workflow. */
export interface Hold {
  id: string;
  reason: HoldReason;
  explanation: string;
  /** The possible decisions. */
  decisions: Decision[];
  /** When the purchase was held, ISO 8601. */
  since: string;
}

/**
 * An operator's decision. With `order`, the purchase adopts the partner's order `orderId`. To pass on an element of
 * `hold.decisions`, narrow it first: only `order` has an `orderId`.
 */
export type HoldDecision = { decision: 'order'; orderId: string } | { decision: Exclude<Decision, 'order'> };

/** What a running purchase is waiting for. Timestamps are ISO 8601. */
export interface CurrentWait {
  /** Human-readable. */
  what: string;
  since: string;
  /** The wait ends no later than this, if known. */
  until?: string | undefined;
}

/**
 * The state of a sale after a late delivery. The state of the ended purchase itself never changes. `REFUNDED` does not
 * mean that nothing was delivered: `delivered` says how many keys the customer may have.
 */
export interface StateAfterEnd {
  state: PurchaseOutcome;
  /** When the late delivery ended, ISO 8601. */
  at: string;
  /** How many keys the checkout has now, by product. */
  delivered: Record<string, number>;
}

/** A delivered key. Store it by `referenceId`, `productId` and `id`. */
export interface EventKey {
  /** Identifies this key permanently, in every event of the sale. */
  id: string;
  /** `text`, `image` (the value is an unchecked data URL), or another type that the partner sent. */
  type: string;
  /** The code, or a data URL. Secret: never log it. */
  value: string;
}

/** One product of a sale. Only events that carry keys have `keys`. */
export interface EventLine {
  productId: string;
  title?: string | undefined;
  /** How many were ordered. */
  quantity: number;
  keys?: EventKey[] | undefined;
}

/** The sale that an event is about. */
export interface SaleData {
  referenceId: string;
  /** The partner's id of the order; absent if there is none. */
  orderId?: string | undefined;
  lines: EventLine[];
  /** The amount debited, in the account's currency: the partner's decimal number, such as 98.4, as received. */
  totalDebit?: number | undefined;
}

/** How a purchase ended, in an event. */
export interface OutcomeData<O extends PurchaseOutcome = PurchaseOutcome> extends SaleData {
  outcome: O;
  /** A sentence, if the outcome alone is not clear. Free text: never compare it. */
  reason?: string | undefined;
}

/** Counts, amounts, ids and texts by name. */
export type EventDetails = Record<string, string | number | string[]>;

/** Declares that there are no lines, so that a receiver can read `event.data.lines ?? []` of any event. */
export interface WithoutLines {
  lines?: undefined;
}

/** The envelope of an event. */
export interface EventOf<Type extends string, Data> {
  /** Act once on each id, because an event may arrive repeatedly. It is the `webhook-id` header. */
  id: string;
  type: Type;
  /** When this attempt was made, ISO 8601. */
  timestamp: string;
  data: Data;
}

/** The event that ends a purchase. */
export type EndedEvent<O extends PurchaseOutcome> = EventOf<`purchase.${Lowercase<O>}`, OutcomeData<O>>;

/** Everything was delivered. Contains the keys: give them to the customer. */
export type PurchaseDelivered = EndedEvent<'DELIVERED'>;
/** Part of the order was delivered; the rest was unavailable. Contains the keys. */
export type PurchasePartiallyDelivered = EndedEvent<'PARTIALLY_DELIVERED'>;
/** The partner refunded the order: either as the outcome (with outcome and lines), or later (with a reason). */
export type PurchaseRefunded = EventOf<'purchase.refunded', OutcomeData<'REFUNDED'> | LateRefundData>;
/** The order failed at the partner. No keys were delivered, and normally nothing was debited. */
export type PurchaseFailed = EndedEvent<'FAILED'>;
/** The partner rejected the order. Refund the customer. Buy again, with a new reference, once the cause is gone. */
export type PurchaseRejected = EndedEvent<'REJECTED'>;
/** The order could not be placed in time, or would have cost more than `maxDebit`. Refund the customer. */
export type PurchaseNotPlaced = EndedEvent<'NOT_PLACED'>;
/** The order was still open at the deadline, and may be charged. Late keys arrive as `purchase.late_delivery`. */
export type PurchaseOverdue = EndedEvent<'OVERDUE'>;
/** Cancelled before anything was bought. Refund the customer. */
export type PurchaseCancelled = EndedEvent<'CANCELLED'>;
/**
 * An operator abandoned the purchase or withheld its keys. An order may have been charged. No more keys follow, but some
 * may already have arrived.
 */
export type PurchaseAbandoned = EndedEvent<'ABANDONED'>;
/** Keys arrived after the purchase ended. Contains all keys of the sale, old and new. */
export type PurchaseLateDelivery = EventOf<'purchase.late_delivery', SaleData & { orderId: string }>;
/** The purchase is waiting for an operator. Tell both the operator and the customer. */
export type PurchaseHeld = EventOf<'purchase.held', HeldData>;
/** Something needs attention: a finding, or a notice of a purchase. */
export type PurchaseAttention = EventOf<'purchase.attention', AttentionData>;
/** A reconciliation has finished. Contains its counts and the location of its report. */
export type ReconciliationCompleted = EventOf<
  'reconciliation.completed',
  WithoutLines & { referenceId: string; kind: 'RECONCILIATION'; details: EventDetails }
>;
/** A test event from `npx fulfilment doctor`. Respond with 2xx and ignore it. */
export type DoctorTest = EventOf<'doctor.test', WithoutLines & { referenceId: string }>;

/** A refund after the end of the purchase. */
export interface LateRefundData extends WithoutLines {
  /** Always absent here: it tells this refund from one that ends a purchase. */
  outcome?: undefined;
  referenceId: string;
  orderId: string;
  totalDebit?: number | undefined;
  /** A sentence, not a code. */
  reason: string;
}

/** Why a purchase is held. */
export interface HeldData extends WithoutLines {
  referenceId: string;
  orderId?: string | undefined;
  /** A code; `explanation` has the words. */
  reason: HoldReason;
  /** The reason in plain words. */
  explanation: string;
  /** The decisions that an operator can take with `npx fulfilment resolve`. */
  decisions: Decision[];
}

export type { FindingKind };

/** The kinds of notices that a purchase itself sends. */
export type AttentionKind = 'DOUBLE_PURCHASE' | 'DELIVERED_KEYS_GONE';

/** Any other string. As plain `string`, it would hide the known values from editors. */
export type OtherText = string & Record<never, never>;

/** A finding, or a notice of a purchase. */
export interface AttentionData extends WithoutLines {
  /** Empty if the event is not about a purchase. */
  referenceId: string;
  orderId?: string | undefined;
  /** A later version may send other kinds. */
  kind: FindingKind | AttentionKind | OtherText;
  details: EventDetails & { explanation?: string | undefined; advice?: string | undefined };
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

/** Represents all types that later versions add. It makes the compiler narrow a `switch` and require a `default`. */
export declare enum UnknownEventType {
  Any = 'a type of a later version',
}

/** An event from a later version. If its lines have keys, store them like the keys of any other event. */
export type UnknownEvent = EventOf<
  UnknownEventType.Any,
  { referenceId: string; orderId?: string | undefined; lines?: EventLine[] | undefined }
>;

/** An event that `parseEvent` has verified. */
export type FulfilmentEvent = KnownEvent | UnknownEvent;
