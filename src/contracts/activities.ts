import type { KeyIds } from '../domain/line-totals';
import type { OrderSnapshot, PurchaseItem } from '../domain/order';
import type { Unplaced } from '../domain/placement';
import type { EndedSale, SaleDelivery } from '../domain/plan-delivery';
import type { AttentionData, HeldData } from './events';
import type { ReceivedEvent } from './public-types';
import type { PurchaseSettings } from './purchase';

export type { DeliveryReport } from './public-types';

/** What a purchase needs of its worker. It reaches the workflow as a recorded result, and stays what it was at the start. */
export interface WorkerSettings {
  settings: PurchaseSettings;
  /** The public id of the secret that makes the key ids of this purchase, for ever. */
  fingerprintSecretId: string;
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
  /** Epoch ms, the server's clock: when the first run of this purchase began. Older orders are not ours. */
  since: number;
  /** The first run of this purchase. A later run sends nothing, unless an operator decided so in it. */
  firstRunId: string;
  /** The run in which an operator decided to place the order again, if one did. */
  replaceInRun?: string;
  /** Its start rejected duplicates. Otherwise another execution with its id may have placed the order. */
  startedOnce?: boolean;
  /** An earlier request of this purchase may have reached the partner. */
  mayHaveArrived: boolean;
  /** Only on record: a later run that began anew finds here which secret made the key ids of the first one. */
  fingerprintSecretId: string;
  /** The request is not written if its attempt is older than this, in ms. */
  maxAgeMs: number;
}

/**
 * The answer of one placement attempt, told apart by its evidence: docs/architecture.md#what-an-answer-to-place-order-means.
 * `why` says what was seen, in safe words.
 */
export type PlacementResult = OrderPlaced | OrdersFound | NothingPlaced;

/** The partner has answered with the id of the order. */
export interface OrderPlaced {
  evidence: 'PLACED';
  orderId: string;
}

/** The search before the request shows orders. Nothing was sent. */
export interface OrdersFound {
  evidence: 'FOUND';
  orders: [FoundOrder, ...FoundOrder[]];
  why: string;
}

/** There is no order that we know of. */
export interface NothingPlaced {
  evidence: Exclude<Unplaced, 'NEVER_WRITTEN'>;
  why: string;
  /** The pause that the partner asked for. */
  retryAfterMs?: number;
  /** The request only lacked a permit under `PARTNER_MAX_RPS`: about when one may come. */
  permitInMs?: number;
  /** A request of an earlier dispatch may still be on its way. */
  inFlight?: boolean;
}

export interface FindOrdersInput {
  referenceId: string;
  since: number;
  /** Also find out whether the history can be trusted. */
  prove: boolean;
  /** Epoch ms: an order of this purchase was not placed later. One that was proves that the history is up to date. */
  sentBefore: number;
  /** A request of this purchase may have been sent, so a row that can't be read and names no reference may be its order. */
  mayHaveArrived: boolean;
}

/** One search of the partner's order history. */
export interface OrderSearchResult {
  /** Oldest first. */
  orders: FoundOrder[];
  /** The history has shown that it would have shown an order. Always false without `prove`. */
  readable: boolean;
  why: string;
}

export interface PollOrderInput {
  orderId: string;
  referenceId: string;
  /** The first run of the purchase. A poll in a later run also brings what earlier ones left behind. */
  firstRunId: string;
  /** The secret that makes the key ids, unless earlier runs have used another. */
  fingerprintSecretId: string;
  /** The products that were bought: the partner's ids of them are compared as they are. */
  productIds: string[];
}

export interface AwaitOrderInput extends PollOrderInput {
  /** From now to the first poll, in ms. */
  firstDelayMs: number;
  /** Between polls, in ms. */
  intervalMs: number;
  /** `history`: poll only if the order history says that it may be worth while. */
  watch: PurchaseSettings['watch'];
  /** Epoch ms: the order is no older. */
  since: number;
}

/** What one poll of an order shows. */
export interface PolledOrder extends OrderSnapshot {
  /** In a run after a reset: the ids of the keys that earlier runs and deliveries had confirmed, by product. */
  confirmedKeyIds?: KeyIds;
}

export interface CheckOrderInput {
  orderId: string;
  referenceId: string;
}

/** Whether an order that an operator names may be the one of this purchase. `why` says why not, in safe words. */
export type OrderCheck = { usable: true } | { usable: false; why: string };

/** The argument of `deliverWorkflow`. It names a purchase and nothing else, so nothing forged can be signed. */
export interface DeliverInput {
  referenceId: string;
  /** Also send what the checkout has confirmed already. */
  again?: boolean;
}

/** How one delivery ended. `REFUSED`: the checkout answered 410, it never wants this event. */
export type Delivered = { kind: 'RECEIVED'; event: ReceivedEvent } | { kind: 'REFUSED' };

/** `CHANGED`: the order is no longer as it was reviewed, so nothing was sent; `maybeSent` if an earlier attempt may have sent that. */
export type SaleDelivered = Delivered | { kind: 'CHANGED'; maybeSent: boolean };

/** A notice to the checkout from a purchase. `subject` distinguishes two of one type. */
export type Notice =
  | { type: 'purchase.held'; subject: string; data: HeldData }
  | { type: 'purchase.attention'; subject: string; data: AttentionData };

/** The activities of purchases and deliveries. */
export interface Activities {
  /** Reads the settings of this worker, which are recorded once. No I/O. */
  readSettings(): Promise<WorkerSettings>;
  /** Names the run it runs in, as recorded at that moment: after a reset, code before it replays the run before. No I/O. */
  currentRun(): Promise<{ runId: string }>;
  /** Sends at most one place-order request, behind fences: docs/architecture.md#failure-model. Never throws on purpose. */
  placeOrder(input: PlaceOrderInput): Promise<PlacementResult>;
  /** Searches the partner's history for the orders of a reference. */
  findOrders(input: FindOrdersInput): Promise<OrderSearchResult>;
  /** Waits, by failing, until the order is no longer open. */
  awaitOrderChange(input: AwaitOrderInput): Promise<PolledOrder>;
  /** Polls the order once. As a local activity only in the first run, and only if a permit is free at once. */
  pollOrder(input: PollOrderInput): Promise<PolledOrder>;
  /** Reads an order that a decision names, before it is accepted. It throws if the partner can't be read. */
  checkOrder(input: CheckOrderInput): Promise<OrderCheck>;
  /** Reads a purchase that has ended, and its order. It throws `NothingToDeliver` for any other. */
  readSale(input: DeliverInput): Promise<EndedSale>;
  /** Delivers one event about a sale, with the keys read from the partner in the same attempt. */
  deliverSale(delivery: SaleDelivery): Promise<SaleDelivered>;
  /** Delivers one notice. */
  deliverNotice(notice: Notice): Promise<Delivered>;
}
