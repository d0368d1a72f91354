import { log, sleep, workflowInfo } from '@temporalio/workflow';
import type { PolledOrder } from '../contracts/activities';
import { countKeyIds, type KeyIds, keyIdsOf, missingKeyIds, unionOfKeyIds } from '../domain/key-ids';
import { canStopPolling } from '../domain/order';
import { toSingleLine } from '../domain/text-format';
import { eventTypeOf } from '../domain/purchase-state';
import type { SaleEvent } from '../domain/plan-delivery';
import { type Accepted, type ComparedItems, reviewOrder } from '../domain/review-order';
import { awaitOrder, isUnreadableOrder, pollOnce, type UnreadableOrder } from './await-order';
import {
  deliverWithRetries,
  keysGoneDetails,
  MAX_REPEATED_REVIEWS,
  startAttentionNotice,
  type SaleDeliveryEnd,
} from './deliver-events';
import type { HoldCause, Holds } from './holds';
import { type OutcomeDetails, type PurchaseRecord, boundedHistoryDelayMs } from './purchase-record';

/** Characters. */
const MAX_EXPLANATION_LENGTH = 600;

/**
 * Decides from the order how a purchase ends. If the order must not be delivered as it is, the purchase is held until
 * an operator accepts it, names another order or abandons the purchase. An operator is never asked twice about the same
 * difference.
 *
 * @param first the order as it was polled, or the reason why it could not be read.
 * @param comparedFirst see `reviewOrder`.
 */
export async function decideOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: PolledOrder | UnreadableOrder,
  comparedFirst: ComparedItems,
): Promise<OutcomeDetails> {
  const { items } = purchase.input;
  let order = first;
  let compared = comparedFirst;
  let accepted: Accepted = purchase.acceptedOf(first.orderId) ?? {};

  for (;;) {
    const { orderId } = order;
    if (isUnreadableOrder(order)) {
      const explanation = explainUnreadable(order.reason);
      if (!order.isTooLarge) return overdue(explanation, compared);
      const { decision } = await holds.hold({ reason: 'ORDER_TOO_LARGE', explanation });
      if (decision === 'withhold') return abandoned(purchase, explanation, decision);
      order = await awaitOrder(purchase, orderId, 'scheduled');
      continue;
    }
    const { status, totalDebit, receivedKeyIds, keylessEvents } = order;
    purchase.noteEarlierRuns(order);
    if (canStopPolling(status)) purchase.orderKeyIds = keyIdsOf(order.lines);
    const review = reviewOrder({ items, accepted, keylessEvents }, order, compared);
    switch (review.kind) {
      case 'ended':
        return { outcome: review.outcome, lines: [], totalDebit, reason: explainEnd(status, receivedKeyIds) };
      case 'open':
        return { ...overdue(`still ${status} at the deadline`, compared), totalDebit };
      case 'deliver': {
        const { lines, whole, ordered, reason } = review;
        return { outcome: whole ? 'DELIVERED' : 'PARTIALLY_DELIVERED', status, lines, ordered, totalDebit, reason };
      }
      case 'issue': {
        const resolution = await holds.hold(review.issue);
        if (resolution.decision === 'abandon' || resolution.decision === 'withhold') {
          return { ...abandoned(purchase, review.issue.explanation, resolution.decision), totalDebit };
        }
        const another = resolution.decision === 'order' ? resolution.orderId : undefined;
        if (another !== undefined) compared = 'all';
        accepted = another === undefined ? { ...accepted, ...review.issue.accepts } : {};
        order = await awaitOrder(purchase, another ?? orderId, 'scheduled');
      }
    }
  }
}

function explainEnd(status: string, receivedKeyIds?: KeyIds): string {
  return `the partner says ${status}${deliveredBefore(receivedKeyIds)}`;
}

/** The checkout must know that the customer may have keys of an order that is reported to have none. */
function deliveredBefore(receivedKeyIds?: KeyIds): string {
  const before = countKeyIds(receivedKeyIds);
  return before > 0 ? `; keys delivered before: ${before}` : '';
}

/** Shortened, because an operator can fail an activity with a message of any length. */
function explainUnreadable(reason: string): string {
  return toSingleLine(`the order could not be read: ${reason}`, MAX_EXPLANATION_LENGTH);
}

function abandoned({ receivedKeyIds }: PurchaseRecord, explanation: string, decision: 'abandon' | 'withhold') {
  const how = decision === 'abandon' ? 'abandoned' : 'keys withheld';
  const reason = `${how} by an operator; ${explanation}${deliveredBefore(receivedKeyIds)}`;
  return { outcome: 'ABANDONED', lines: [], reason } satisfies OutcomeDetails;
}

function overdue(reason: string, compared: ComparedItems): OutcomeDetails {
  return { outcome: 'OVERDUE', lines: [], reason, adopted: compared === 'all' || undefined };
}

/**
 * Notifies the checkout of the outcome, with all keys of the sale. If the order has changed since its review, it is
 * reviewed again. If the event can't be delivered, the purchase is held until an operator has the event sent again or
 * withholds it.
 *
 * @returns the outcome that was delivered, which may differ if the order changed or an operator decided otherwise.
 */
export async function deliverOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: OutcomeDetails,
): Promise<OutcomeDetails> {
  let details = first;
  let repeatedReviews = 0;
  // Keys that were sent without a confirmation. If the order loses one of them, or a received one, the checkout is
  // notified.
  let possiblyReceived: KeyIds = {};
  let goneCount = 0;
  const notifyIfGone = () => {
    const gone = missingKeyIds(unionOfKeyIds(purchase.receivedKeyIds, possiblyReceived), purchase.orderKeyIds);
    if (gone.length <= goneCount) return;
    goneCount = gone.length;
    startAttentionNotice(purchase, 'DELIVERED_KEYS_GONE', keysGoneDetails(gone));
  };
  const reviewAgain = async () => {
    details = await reviewChanged(purchase, holds, details);
    notifyIfGone();
  };
  notifyIfGone();
  for (let isFirst = true; ; isFirst = false) {
    const end = await deliverWithRetries(purchase, outcomeEvent(purchase, details), isFirst);
    if (end.kind === 'RECEIVED') {
      purchase.events.push(end.event);
      return details;
    }
    if (end.kind !== 'CHANGED' || end.eventMayHaveArrived) {
      possiblyReceived = unionOfKeyIds(possiblyReceived, keyIdsOf(details.lines));
    }
    if (end.kind === 'CHANGED' && repeatedReviews < MAX_REPEATED_REVIEWS) {
      repeatedReviews += 1;
      await reviewAgain();
      continue;
    }
    const problem = problemOf(end);
    const { decision } = await holds.hold(problem);
    if (decision === 'withhold') return withhold(purchase, details, problem);
    if (end.kind === 'CHANGED') await reviewAgain();
    repeatedReviews = 0;
  }
}

function problemOf(end: Exclude<SaleDeliveryEnd, { kind: 'RECEIVED' }>): HoldCause {
  switch (end.kind) {
    case 'CHANGED':
      return {
        reason: 'ORDER_CHANGES',
        explanation: 'the order kept changing between its review and its delivery',
      };
    case 'REFUSED':
      return { reason: 'DELIVERY_REFUSED', explanation: 'the checkout rejected the event permanently (410)' };
    case 'TOO_LARGE':
      return { reason: 'ORDER_TOO_LARGE', explanation: explainUnreadable(end.reason) };
    case 'EXHAUSTED':
      return { reason: 'DELIVERY_EXHAUSTED', explanation: end.reason };
  }
}

/** Reviews the order again one poll interval later, because it may still be changing. */
async function reviewChanged(purchase: PurchaseRecord, holds: Holds, before: OutcomeDetails): Promise<OutcomeDetails> {
  const delay = boundedHistoryDelayMs(purchase.settings.pollIntervalMs, Infinity);
  await sleep(delay, { summary: 'before the order is reviewed again' });
  const { orderId } = purchase;
  if (orderId === undefined) return before;
  const order = await pollOnce(purchase, orderId);
  // An open or unreadable order proves nothing about its keys. The next delivery compares them again.
  if (isUnreadableOrder(order) || !canStopPolling(order.status)) return before;
  // The items were already compared in full. While the order changes, only items that were not bought are an issue.
  return decideOutcome(purchase, holds, order, 'not-bought');
}

async function withhold(
  purchase: PurchaseRecord,
  details: OutcomeDetails,
  { explanation }: HoldCause,
): Promise<OutcomeDetails> {
  const withheld = { ...details, ...abandoned(purchase, explanation, 'withhold') };
  const end = await deliverWithRetries(purchase, outcomeEvent(purchase, withheld), false);
  if (end.kind === 'RECEIVED') purchase.events.push(end.event);
  // Not held again: an operator has already decided to withhold it.
  else log.error('the checkout was not notified that the purchase was abandoned', { reason: end.kind });
  return withheld;
}

/** The event of an outcome: the whole sale with all its keys. */
function outcomeEvent({ input, orderId, keylessEvents }: PurchaseRecord, details: OutcomeDetails): SaleEvent {
  const { outcome, status, totalDebit, reason } = details;
  const ordered = input.items.map((item) => ({ ...item, keyIds: [] }));
  const lines = details.lines.length > 0 ? details.lines : ordered;
  const { referenceId } = input;
  const event = { type: eventTypeOf(outcome), referenceId, orderId, outcome, status, lines, totalDebit, reason };
  return details.lines.length === 0
    ? event
    : { ...event, firstRunId: workflowInfo().firstExecutionRunId, keylessEvents };
}
