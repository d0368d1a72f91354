import { type Accepted, reviewOrder, type SaleLine } from './review-order';
import { hasSameKeyIds, type KeyIds, keyCount, keyIdsOf, missingKeyIds } from './key-ids';
import type { OrderSnapshot } from './order';
import type { PurchaseItem } from './purchase-item';
import { isKeylessOutcome, eventTypeOf, type PurchaseOutcome } from './purchase-state';

/** An ended purchase, as the Temporal server and the partner know it now. */
export interface EndedPurchase {
  referenceId: string;
  /** Its latest run. */
  runId?: string;
  items: PurchaseItem[];
  /** Absent if the workflow was stopped without a result. */
  outcome?: PurchaseOutcome;
  orderId?: string;
  totalDebit?: number;
  reason?: string;
  /** What operators accepted of its order. */
  accepted?: Accepted;
  /** It ended as overdue, and another request may have placed its order. */
  adopted?: boolean;
  /** The key ids in its outcome event. */
  outcomeKeyIds: KeyIds;
  /** The ids of all keys that the checkout has received. */
  receivedKeyIds: KeyIds;
  /** Whether the checkout was notified of a refund after the purchase ended. */
  refundReceived: boolean;
  /** See `ReviewTerms`. */
  keylessEvents?: string[];
  /** The order as it is now. Read only if keys may have to be sent. */
  order?: OrderSnapshot;
}

/** An event about a sale. It contains key ids only; the delivery activity reads the keys. */
export interface SaleEvent {
  type: `purchase.${Lowercase<PurchaseOutcome>}` | 'purchase.late_delivery';
  referenceId: string;
  orderId?: string;
  /** Absent from events after the end of the purchase. */
  outcome?: PurchaseOutcome;
  /** The order's status at its review. An event with keys is sent only if the order still has this status. */
  status?: string;
  /** Absent from a refund after the end of the purchase. */
  lines?: SaleLine[];
  totalDebit?: number;
  reason?: string;
  /** Only after the end of the purchase: its last run. Once it has run again, the event is not sent. */
  afterRunId?: string;
  /** The first run of the workflow. A later one may repeat a review that is older than an earlier run's end. */
  firstRunId?: string;
  /** The events without keys that the review has considered. */
  keylessEvents?: string[];
  /** Only in a local delivery: the start of its workflow task. Epoch ms, the server's clock. */
  decidedAt?: number;
}

/** How to bring the checkout up to date after the end of a purchase. */
export type DeliveryPlan =
  /** `newKeys`: how many keys the checkout has not received. `missing`: how many the order still lacks, of `ordered`. */
  | { kind: 'send'; event: SaleEvent; newKeys: number; missing: number; ordered?: number }
  /** Nothing to send. `reason` is shown to an operator who asked for a delivery. */
  | { kind: 'nothing'; reason: string; missing: number }
  /** The order must not be delivered as it is. */
  | { kind: 'issue'; issue: string };

/** @param again also send what the checkout has already received. */
export function planDelivery(ended: EndedPurchase, again: boolean): DeliveryPlan {
  const { items, outcome, order, accepted, adopted, keylessEvents } = ended;
  if (outcome !== undefined && isKeylessOutcome(outcome)) return repeatOutcome(ended, again, `it ended as ${outcome}`);
  if (!order) return { kind: 'nothing', reason: 'the partner shows no order for this purchase', missing: 0 };
  const compared = outcome === undefined || adopted ? 'all' : 'not-bought';
  const review = reviewOrder({ items, accepted, keylessEvents }, order, compared);
  switch (review.kind) {
    case 'issue':
      return { kind: 'issue', issue: review.issue.explanation };
    case 'ended':
      if (review.outcome === 'FAILED') return repeatOutcome(ended, again, `its order ${order.orderId} is FAILED`);
      return planRefundEvent(ended, order, again);
    case 'open':
      return repeatOutcome(ended, again, `its order ${order.orderId} is ${order.status}`);
    case 'deliver': {
      const newKeys = missingKeyIds(keyIdsOf(review.lines), ended.receivedKeyIds).length;
      const missing = Math.max(0, review.ordered - keyCount(review.lines));
      if (newKeys === 0 && !again)
        return { kind: 'nothing', reason: 'the checkout has every key of the order', missing };
      if (keyCount(review.lines) === 0)
        return repeatOutcome(ended, again, `its order ${order.orderId} contains no keys`);
      const event = wholeSaleEvent(ended, order, review.lines);
      return { kind: 'send', event, newKeys, missing, ordered: review.ordered };
    }
  }
}

/** The state of the sale once the checkout has received the planned event. */
export function stateAfter({ event, missing }: Extract<DeliveryPlan, { kind: 'send' }>): PurchaseOutcome {
  const { type, outcome } = event;
  if (outcome !== undefined) return outcome;
  if (type === 'purchase.refunded') return 'REFUNDED';
  return missing === 0 ? 'DELIVERED' : 'PARTIALLY_DELIVERED';
}

/** With the same keys as the outcome event, the delivery repeats that event. With other keys it is a late delivery. */
function wholeSaleEvent(ended: EndedPurchase, order: OrderSnapshot, lines: SaleLine[]): SaleEvent {
  const { referenceId, outcome, outcomeKeyIds, reason } = ended;
  const { orderId, status, totalDebit } = order;
  if (outcome === undefined || !hasSameKeyIds(keyIdsOf(lines), outcomeKeyIds)) {
    return { type: 'purchase.late_delivery', referenceId, orderId, status, lines, totalDebit };
  }
  return { type: eventTypeOf(outcome), referenceId, orderId, outcome, status, lines, totalDebit, reason };
}

function planRefundEvent(ended: EndedPurchase, { orderId, totalDebit }: OrderSnapshot, again: boolean): DeliveryPlan {
  if (ended.refundReceived && !again)
    return { kind: 'nothing', reason: 'the checkout knows of the refund', missing: 0 };
  const reason = 'the partner refunded the order after the purchase had ended';
  const event = { type: 'purchase.refunded', referenceId: ended.referenceId, orderId, totalDebit, reason } as const;
  return { kind: 'send', event, newKeys: 0, missing: 0 };
}

/** Repeats the event of an outcome without keys. An event that had keys can't be repeated without them. */
function repeatOutcome(ended: EndedPurchase, again: boolean, nothingBecause: string): DeliveryPlan {
  const { referenceId, items, outcome, orderId, totalDebit, reason, outcomeKeyIds } = ended;
  const hadKeys = Object.keys(outcomeKeyIds).length > 0;
  if (!again || outcome === undefined || hadKeys) return { kind: 'nothing', reason: nothingBecause, missing: 0 };
  const lines = items.map((item) => ({ ...item, keyIds: [] }));
  const event = { type: eventTypeOf(outcome), referenceId, orderId, outcome, lines, totalDebit, reason };
  return { kind: 'send', event, newKeys: 0, missing: 0 };
}
