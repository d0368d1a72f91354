import type { DeliveryScope } from '../domain/late-keys';
import type { OrderSnapshot } from '../domain/order';
import type { DeliveryReceipt, DeliveryRequest, EarlierEvent, RefusedDelivery } from './checkout-events';
import type { PurchaseItem, PurchaseSettings, ReceivedEvent } from './purchase';

/** What a purchase needs of its worker. It reaches the workflow as a recorded result, and stays what it was at the start. */
export interface WorkerSettings {
  settings: PurchaseSettings;
  /** The public id of the newest fingerprint secret. A repeated poll then makes the fingerprints that it made before. */
  fingerprintSecretId?: string;
}

/** An order of the partner's history that bears exactly the reference that was searched for. */
export interface FoundOrder {
  id: string;
  status: string;
  /** ISO 8601, the partner's clock. */
  createdAt: string;
}

export interface PlaceOrderInput {
  referenceId: string;
  items: PurchaseItem[];
  /** The most that it may cost: see `PurchaseInput`. */
  maxDebit?: number;
  /** The brake has just woken the purchase: it is asked anew whether it is open. */
  woken?: boolean;
  /** Epoch ms, the server's clock: when the first run of this purchase began. Orders older than that are not ours. */
  since: number;
  /** The first run of this purchase. Any other run settles before it places. */
  firstRunId: string;
  /** The run in which a settling (or an operator's decision) allowed this placement, if one did. */
  settledInRun?: string;
  /**
   * The explanation of the hold that an operator answered with `replace`. What it names no longer stands against the
   * placement, or that hold would come again after each decision.
   */
  decidedDespite?: string;
  /** The request is not written when its attempt is older than this, in ms. */
  maxAgeMs: number;
}

/**
 * The answer of one placement attempt, told apart by its evidence: docs/architecture.md#what-an-answer-to-place-order-means.
 * `why` says what was seen, in safe words; `retryAfterMs` is the pace that the partner asked for; `turnInMs`, with a request
 * that only lacked a slot under `PARTNER_MAX_RPS`, is about when one may come.
 */
export type PlacementResult =
  | OrderPlaced
  /** The search before the request brought up orders. Nothing was sent. */
  | { evidence: 'FOUND'; orders: FoundOrder[]; why: string }
  | { evidence: 'NOT_SENT'; why: string; retryAfterMs?: number; turnInMs?: number }
  /** It may cost more than it names. Nothing was sent, and the search before has shown no order. */
  | { evidence: 'OVER_MAX_DEBIT'; why: string }
  /** The brake is closed. Nothing was sent. */
  | { evidence: 'PAUSED'; why: string }
  | PlacementRefused
  | PlacementUnknown;

/** The partner has answered with the id of the order. */
export interface OrderPlaced {
  evidence: 'PLACED';
  orderId: string;
  /** Epoch ms, the worker's clock; absent where an operator completed the activity. */
  placedAt?: number;
}

/** The partner refused the order, or us. */
export interface PlacementRefused {
  evidence: 'ORDER_REFUSED' | 'ACCESS_REFUSED';
  why: string;
  retryAfterMs?: number;
}

/** Whether the partner bought is open. */
export interface PlacementUnknown {
  evidence: 'CONFLICT' | 'ANSWERED' | 'UNKNOWN';
  why: string;
  retryAfterMs?: number;
  /** A request of an earlier dispatch may still be on its way. */
  inFlight?: boolean;
}

export interface FindOrdersInput {
  referenceId: string;
  since: number;
  /** Also find out whether the history can be trusted: costs two requests more, or a few. */
  prove: boolean;
  /** Epoch ms: an order of this purchase was not placed later. What was, proves that the history is up to date. */
  sentBefore: number;
}

/** One search of the partner's order history. */
export interface OrderSearchResult {
  /** The run that searched. A reset replays results of an older run, which must not open a fence of the new one. */
  runId: string;
  /** Oldest first. */
  orders: FoundOrder[];
  /** The history has shown that it would have shown an order. Always false without `prove`. */
  readable: boolean;
  why: string;
}

export interface GetOrderInput {
  orderId: string;
  referenceId: string;
  /** The first run of the purchase. A poll in any other run also brings up what earlier ones handed over. */
  firstRunId?: string;
  /** The secret that makes the fingerprints, as long as this worker has it; else the newest. */
  fingerprintSecretId?: string;
  /**
   * The first poll, a local activity, brought up nothing. Should its workflow task have been repeated, an earlier one may have found
   * the order complete and delivered it: the history of this very run shows whether.
   */
  afterFailedPoll?: boolean;
  /** Of a purchase that the watcher wakes: the poll is as urgent as any, tried again after so many ms, and calls the watcher. */
  watched?: { intervalMs: number };
}

export interface AwaitOrderInput extends GetOrderInput {
  /** From now to the first poll, in ms. */
  firstDelayMs: number;
  /** Between polls, in ms. */
  intervalMs: number;
}

export interface CheckOrderInput {
  orderId: string;
  referenceId: string;
}

/** Whether an order that an operator names may be the one of this purchase. `why` says why not, in safe words. */
export type OrderCheck = { usable: true } | { usable: false; why: string };

/** What one poll of an order brings up: after a reset also what went out before, which must not go out as something else. */
export interface PolledOrder extends OrderSnapshot {
  /** ISO 8601: when it was seen so. An event that is made of it happened then, however often its workflow task is repeated. */
  polledAt?: string;
  earlier?: EarlierEvent[];
}

/**
 * Has `deliverWorkflow` deliver the keys of a purchase that has ended. It does not say which: the order and the events that
 * were sent before are read when no other delivery of this reference can run.
 */
export interface KeyDelivery {
  referenceId: string;
  deliver: DeliveryScope;
  /** The order of the keys; absent: the one that the purchase names. */
  orderId?: string;
  /** The run of the delivery before this one, as it was known when this one was started: lists lag. */
  previousRunId?: string;
}

export interface PlanDeliveryInput extends KeyDelivery {
  /** The first run of this delivery: after a reset another one than its own. */
  firstRunId: string;
}

/** The events that a delivery after the end of a purchase is to send. */
export interface DeliveryPlan {
  requests: DeliveryRequest[];
  /** The keys that the checkout has and that are not sent again: their fingerprints by product. */
  received: Record<string, string[]>;
  /** How many keys were ordered. */
  ordered: number;
  orderId?: string;
  order?: DeliveryReport['order'];
}

/** What `deliverWorkflow` ends with. */
export interface DeliveryReport {
  /** What the checkout has received. */
  events: ReceivedEvent[];
  /** The order as it was read, where keys were missing; `issue` says why its keys were kept back. */
  order?: { id: string; status: string; issue?: string };
}

/** The run in which an activity may be local. */
export interface LocalRun {
  firstRunId: string;
}

/** The activities of purchases and deliveries. */
export interface Activities {
  /** Reads the settings of this worker, which are recorded once. No I/O. */
  readSettings(): Promise<WorkerSettings>;
  /** Names the run it runs in. No I/O. See {@link OrderSearchResult.runId}. */
  currentRun(): Promise<{ runId: string }>;
  /** Sends at most one place-order request, behind fences: docs/architecture.md#failure-model. Never throws on purpose. */
  placeOrder(input: PlaceOrderInput): Promise<PlacementResult>;
  /** Searches the partner's history for the orders of a reference. */
  findOrders(input: FindOrdersInput): Promise<OrderSearchResult>;
  /** Waits, by failing, until the order is no longer open. */
  awaitOrderChange(input: AwaitOrderInput): Promise<PolledOrder>;
  /** Reads the order once. As a local activity only in the first run, and only where a slot is free at once. */
  getOrder(input: GetOrderInput): Promise<PolledOrder>;
  /** Reads an order that a decision names, before it is taken. It throws where the partner can't be read. */
  checkOrder(input: CheckOrderInput): Promise<OrderCheck>;
  /** Finds out what of a purchase that has ended is to be sent now. It sends nothing. */
  planDelivery(input: PlanDeliveryInput): Promise<DeliveryPlan>;
  /**
   * Hands one event to the checkout, with the keys read from the partner in the same attempt. As a local activity it runs only in the
   * first run of a purchase, and its result holds the event.
   */
  deliverEvent(request: DeliveryRequest, local?: LocalRun): Promise<DeliveryReceipt | RefusedDelivery>;
}
