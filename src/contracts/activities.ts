import type { PlacementEvidence } from '../domain/placement';
import type { EventLine } from '../domain/assess-order';
import type { OrderSnapshot } from '../domain/order';
import type { DecisionKind, HoldReason, PurchaseItem, PurchaseSettings } from './purchase';

/** What the worker tells a workflow about itself, recorded once. */
export interface WorkerSettings {
  settings: PurchaseSettings;
}

/** An order of the partner's history that bears exactly the reference that was looked for. */
export interface FoundOrder {
  id: string;
  status: string;
  /** ISO 8601, the partner's clock. */
  createdAt: string;
}

export interface PlaceOrderInput {
  referenceId: string;
  items: PurchaseItem[];
  /** Epoch ms, the server's clock: when the first run of this purchase began. Orders older than that are not ours. */
  since: number;
  /** The first run of this purchase. Any other run settles before it places. */
  firstRunId: string;
  /** The run in which a settling (or a person's decision) allowed this placement, if one did. */
  settledInRun?: string;
  /** The request is not written when its attempt is older than this, in ms. */
  maxAgeMs: number;
}

/** The answer of one placement attempt: evidence, as the failure model defines it. */
export interface PlacementResult {
  evidence: PlacementEvidence | 'FOUND';
  /** With `PLACED`. */
  orderId?: string;
  /** With `FOUND`: the orders that the look before the request brought up. Nothing was sent. */
  orders?: FoundOrder[];
  /** In safe words: what was seen. */
  why?: string;
  /** The pace that the partner asked for. */
  retryAfterMs?: number;
  /** A request of an earlier dispatch may still be on its way. */
  inFlight?: boolean;
}

export interface FindOrdersInput {
  referenceId: string;
  since: number;
  /** Also find out whether the history can be trusted: costs two requests more. */
  prove: boolean;
}

/** One look in the partner's order history. */
export interface OrderSearchResult {
  /** The run that looked. A reset replays results of an older run, which must not open a fence of the new one. */
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
  /** The first run of the purchase. A look in any other run also brings up what earlier ones handed over. */
  firstRunId?: string;
}

export interface AwaitOrderInput extends GetOrderInput {
  /** The status that is already known; the activity completes when it sees another. */
  known: string;
  /** From now to the first look. */
  firstDelayMs: number;
  /** Between looks. */
  intervalMs: number;
}

/** An event with keys that another run of a purchase, or a delivery after its end, handed to the checkout or tried to. */
export interface EarlierEvent {
  request: DeliveryRequest;
  /** If the checkout has it. */
  eventId?: string;
}

/** What one look at an order brings up: after a reset also what went out before, which must not go out as something else. */
export interface PolledOrder extends OrderSnapshot {
  earlier?: EarlierEvent[];
}

/** An event for the checkout, as the workflow knows it. The delivery activity adds the keys. */
export interface DeliveryRequest {
  type: string;
  /** ISO 8601: when it happened, the same for every attempt. */
  at: string;
  referenceId: string;
  orderId?: string;
  outcome?: string;
  totalDebit?: number;
  reason?: string;
  lines?: EventLine[];
  /** Tells two events of one type apart that would else be the same, such as two holds of one purchase. */
  deduplicationKey?: string;
  /** With `purchase.held`. */
  hold?: { reason: HoldReason; decisions: DecisionKind[] };
  /** With `purchase.attention`. */
  attention?: { kind: string; details: Record<string, string | number | string[]> };
}

/** The fingerprints of all keys that an event is to hand over, in its order. */
export function fingerprintsOf({ lines = [] }: Pick<DeliveryRequest, 'lines'>): string[] {
  return lines.flatMap((line) => line.fingerprints);
}

/** The receipt of a delivered event. */
export interface DeliveryReceipt {
  eventId: string;
}

/** Has `deliverWorkflow` look at the order of an overdue purchase before it delivers. */
export interface OverdueLook {
  /** What was bought. */
  items: PurchaseItem[];
  /** The late deliveries of this purchase so far. They are repeated, and their keys are not handed over anew. */
  earlier: DeliveryRequest[];
}

/** What `deliverWorkflow` ends with. `eventId` is the last one of `events`, which the checkout has received. */
export interface DeliveryReport extends DeliveryReceipt {
  events: { id: string; type: string; at: string }[];
  /** What the look at an overdue order saw; `doubt` says why its keys were kept back. */
  order?: { id: string; status: string; doubt?: string };
}

/** Everything that the workflows let hands do. The names are those that the Temporal UI shows. */
export interface Activities {
  /** Reads the settings of this worker. No I/O. */
  readSettings(): Promise<WorkerSettings>;
  /** Names the run it runs in. No I/O. See {@link OrderSearchResult.runId}. */
  currentRun(): Promise<{ runId: string }>;
  /** Sends at most one place-order request, behind the fences of the failure model. Never throws on purpose. */
  placeOrder(input: PlaceOrderInput): Promise<PlacementResult>;
  /** Looks for the orders of a reference in the partner's history. */
  findOrders(input: FindOrdersInput): Promise<OrderSearchResult>;
  /** Waits, by failing, until the order's status is another than the known one. */
  awaitOrderChange(input: AwaitOrderInput): Promise<PolledOrder>;
  /** Looks at the order once. */
  getOrder(input: GetOrderInput): Promise<PolledOrder>;
  /** Hands one event to the checkout, with the keys read from the partner in the same breath. */
  deliverEvent(request: DeliveryRequest): Promise<DeliveryReceipt>;
}
