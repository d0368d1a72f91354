import type { KeyIds } from '../domain/key-ids';
import type { OrderSnapshot } from '../domain/order';
import type { PurchaseItem } from '../domain/purchase-item';
import type { EvidenceWithoutOrder } from '../domain/placement';
import type { EndedPurchase, SaleEvent } from '../domain/plan-delivery';
import type { AttentionData, HeldData } from './events';
import type { ReceivedEvent } from './public-types';
import type { PurchaseSettings } from './purchase';

export type { DeliveryResult } from './public-types';

/** What a purchase needs from its worker. Recorded at the start; it never changes afterwards. */
export interface WorkerSettings {
  settings: PurchaseSettings;
  /** The public id of the secret from which all key ids of this purchase are made. */
  fingerprintSecretId: string;
}

/** An order in the partner's history whose reference is exactly the one searched for. */
export interface FoundOrder {
  id: string;
  status: string;
  /** ISO 8601, the partner's clock. */
  createdAt: string;
}

export interface PlaceOrderInput {
  referenceId: string;
  items: readonly PurchaseItem[];
  /** See `PurchaseInput`. */
  maxDebit?: number;
  /** Epoch ms, the server's clock: the start of the purchase's first run. An older order can't be this purchase's. */
  purchaseStartedAt: number;
  /**
   * The first run of this purchase. A later run sends nothing unless an operator decides in that run to place again.
   */
  firstRunId: string;
  /** The run in which an operator decided to place the order again. */
  replaceInRun?: string;
  /** Whether a request may have been sent since that decision. If not, the decision also overrules unreadable rows. */
  sentSinceReplace?: boolean;
  /** Started with RejectDuplicate. Otherwise, another execution with the same id may have placed the order. */
  startedWithRejectDuplicate?: boolean;
  /** An earlier request of this purchase may have been sent. */
  requestMayHaveBeenSent: boolean;
  /** Only recorded: a run after a reset reads it to learn from which secret the key ids were made. */
  fingerprintSecretId: string;
  /** Beyond this age, in ms, the attempt sends nothing. */
  maxAgeMs: number;
  /**
   * In ms, as the purchase started with it. The confirmation counts on it, so the request keeps it even if
   * PARTNER_TIMEOUT has been raised since.
   */
  partnerTimeoutMs: number;
}

/**
 * The result of one placement attempt, discriminated by its evidence. `reason` explains the evidence and is safe to
 * log. Source: docs/architecture.md#failure-model.
 */
export type PlacementResult = (OrderPlaced | OrdersFound | NoKnownOrder) & {
  /** Temporal's list shows no other execution of this reference, which might have placed an order. */
  isOnlyExecution?: boolean;
};

/** The partner returned the id of the order. */
export interface OrderPlaced {
  evidence: 'PLACED';
  orderId: string;
}

/** The search before the request found orders. Nothing was sent. */
export interface OrdersFound {
  evidence: 'FOUND';
  orders: [FoundOrder, ...FoundOrder[]];
  reason: string;
}

/** This attempt returned no order. `evidence` says whether one may exist. */
export interface NoKnownOrder {
  evidence: Exclude<EvidenceWithoutOrder, 'NEVER_WRITTEN'>;
  reason: string;
  /** The partner's Retry-After. */
  retryAfterMs?: number;
  /** Only a permit under `PARTNER_MAX_RPS` was missing: about when to expect one. */
  permitInMs?: number;
  /** A request may still be on its way to the partner. */
  inFlight?: boolean;
}

export interface FindOrdersInput {
  referenceId: string;
  purchaseStartedAt: number;
  /** Also prove that the history is readable and up to date. */
  prove: boolean;
  /**
   * Epoch ms: this purchase sent no request after this. A younger order in the list proves that the history is current.
   */
  sentBefore: number;
  /** A request of this purchase may have been sent, so an unreadable row without a reference may be its order. */
  requestMayHaveBeenSent: boolean;
  /** An earlier execution of this reference may have placed the order. */
  mayHaveEarlierExecution?: boolean;
  /** The first run of this execution. Before a later one, an earlier run may have placed the order. */
  firstRunId?: string;
}

/** One search of the partner's order history. */
export interface OrderSearchResult {
  /** The order that an earlier run recorded, then the others, oldest first. */
  orders: FoundOrder[];
  /** Whether the history proved that it would show an order. Always false without `prove`. */
  provesAbsence: boolean;
  reason: string;
}

export interface PollOrderInput {
  orderId: string;
  referenceId: string;
  /** The first run of the purchase. A poll in a later run also returns what earlier runs delivered. */
  firstRunId: string;
  /** An earlier execution of this reference may have delivered the order. The poll returns what it delivered. */
  mayHaveEarlierExecution?: boolean;
  /** The secret from which the key ids are made, unless earlier runs used another one. */
  fingerprintSecretId: string;
  /** The products that were bought. Their ids are never redacted. */
  productIds: string[];
}

export interface PollUntilEndedInput extends PollOrderInput {
  /** The delay before the first poll, in ms. */
  firstDelayMs: number;
  /** The interval between polls, in ms. */
  intervalMs: number;
  /** With `history`, the order is polled only if the order history shows that it may have ended. */
  watch: PurchaseSettings['watch'];
  /** Epoch ms: no order of the purchase is older than this. */
  purchaseStartedAt: number;
}

/** The result of one poll. */
export interface PolledOrder extends OrderSnapshot {
  /** Only after a reset or a second start: the key ids that the checkout received before, by product. */
  receivedKeyIds?: KeyIds;
  /** Only after a reset or a second start: see `ReviewTerms`. */
  keylessEvents?: string[];
}

export interface CheckOrderInput {
  orderId: string;
  referenceId: string;
}

/** Whether an order named by an operator can belong to this purchase. `reason` says why not, and is safe to log. */
export type OrderCheck = { usable: true } | { usable: false; reason: string };

/** The argument of `deliverWorkflow`. It contains no event data, so forged data can't be signed. */
export interface DeliverInput {
  referenceId: string;
  /** Also send what the checkout has already received. */
  again?: boolean;
}

/** How one delivery ended. `REFUSED`: the checkout returned 410, which rejects the event permanently. */
export type DeliveryAttemptResult = { kind: 'RECEIVED'; event: ReceivedEvent } | { kind: 'REFUSED' };

/**
 * `CHANGED`: the order has changed since its review, or the purchase has run again, so this attempt sent nothing.
 * `eventMayHaveArrived`: the checkout may have received the event from an earlier attempt.
 */
export type SaleDeliveryAttemptResult = DeliveryAttemptResult | { kind: 'CHANGED'; eventMayHaveArrived: boolean };

/** A notice from a purchase to the checkout. `subject` distinguishes notices of one type. */
export type Notice =
  | { type: 'purchase.held'; subject: string; data: HeldData }
  | { type: 'purchase.attention'; subject: string; data: AttentionData };

/** The activities of purchases and deliveries. */
export interface Activities {
  /** Returns the settings of this worker. Does no I/O. */
  readSettings(): Promise<WorkerSettings>;
  /** Returns the id of the current run. As an activity result it is correct even after a reset. Does no I/O. */
  readRunId(): Promise<{ runId: string }>;
  /**
   * Sends at most one place-order request, behind fences:
   * docs/architecture.md#what-prevents-a-second-placement. It never throws deliberately.
   */
  placeOrder(input: PlaceOrderInput): Promise<PlacementResult>;
  /** Searches the partner's history for the orders of a reference. */
  findOrders(input: FindOrdersInput): Promise<OrderSearchResult>;
  /** Polls the order. While the order is open, this fails benignly: the activity's retry policy is the wait. */
  pollUntilEnded(input: PollUntilEndedInput): Promise<PolledOrder>;
  /** Polls the order once. As a local activity it works only in the first run, and only if a permit is free at once. */
  pollOrder(input: PollOrderInput): Promise<PolledOrder>;
  /** Checks the order that a decision names, before the decision is accepted. Throws if the partner can't be read. */
  checkOrder(input: CheckOrderInput): Promise<OrderCheck>;
  /** Reads an ended purchase and its order. Throws `NothingToDeliver` for any other purchase. */
  readEndedPurchase(input: DeliverInput): Promise<EndedPurchase>;
  /** Delivers one event about a sale, with keys that the same attempt reads from the partner. */
  deliverSale(event: SaleEvent): Promise<SaleDeliveryAttemptResult>;
  deliverNotice(notice: Notice): Promise<DeliveryAttemptResult>;
}
