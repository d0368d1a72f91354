import { log, sleep } from '@temporalio/workflow';
import type { PolledOrder } from '../contracts/activities';
import { type KeyIds, keyIdsOf, missingKeys, unionOfKeys } from '../domain/line-totals';
import { endsPolling } from '../domain/order';
import { inOneLine } from '../domain/texts';
import { eventTypeOf } from '../domain/purchase-state';
import type { SaleDelivery } from '../domain/plan-delivery';
import { type Accepted, reviewOrder } from '../domain/review-order';
import { awaitOrder, pollOnce, type Unread } from './await-order';
import { deliverSale, MOST_REVIEWS, raiseAlert, type SaleDeliveryEnd } from './deliver-events';
import type { HoldCause, Holds } from './holds';
import { boundedPause, type OutcomeDetails, type PurchaseRecord } from './purchase-record';

/** Key ids in an alert. */
const MOST_SHOWN = 20;
const LONGEST_EXPLANATION = 600;

/**
 * Finds out how a purchase ends from its order. An order that must not be delivered as it is, is held: an operator accepts it,
 * names another order, or gives it up. What was accepted of that order before is not asked about again.
 *
 * @param first the order as it was polled, or why it could not be read.
 * @param isAnswer whether it is the answer to our own request. Otherwise its items are compared with the sale in every respect.
 */
export async function reviewOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: PolledOrder | Unread,
  isAnswer: boolean,
): Promise<OutcomeDetails> {
  const { items } = purchase.input;
  let order = first;
  let isOwn = isAnswer;
  let accepted: Accepted = purchase.acceptedOf(first.orderId) ?? {};

  for (;;) {
    const { orderId } = order;
    if ('why' in order) {
      const explanation = unreadable(order.why);
      if (!order.isTooLarge) return overdue(explanation);
      const { decision } = await holds.hold({ reason: 'ORDER_TOO_LARGE', explanation });
      if (decision === 'withhold') return givenUp(explanation);
      order = await awaitOrder(purchase, { orderId, adopted: true });
      continue;
    }
    const { status, totalDebit, confirmedKeyIds } = order;
    if (confirmedKeyIds) purchase.confirmedKeyIds = confirmedKeyIds;
    const review = reviewOrder({ items, accepted }, order, isOwn);
    switch (review.kind) {
      case 'ended':
        return { outcome: review.outcome, lines: [], totalDebit, reason: `the partner says ${status}` };
      case 'open':
        return { ...overdue(`still ${status} at the deadline`), totalDebit };
      case 'deliver': {
        const { lines, whole, ordered, reason } = review;
        return { outcome: whole ? 'DELIVERED' : 'PARTIALLY_DELIVERED', status, lines, ordered, totalDebit, reason };
      }
      case 'issue': {
        const resolution = await holds.hold(review.issue);
        if (resolution.decision === 'abandon' || resolution.decision === 'withhold') {
          return { ...givenUp(review.issue.explanation), totalDebit };
        }
        const another = resolution.decision === 'order' ? resolution.orderId : undefined;
        if (another !== undefined) isOwn = false;
        accepted = another === undefined ? { ...accepted, ...review.issue.accepts } : {};
        order = await awaitOrder(purchase, { orderId: another ?? orderId, adopted: true });
      }
    }
  }
}

/** An operator can fail an activity, in words of their own. */
function unreadable(why: string): string {
  return inOneLine(`the order could not be read: ${why}`, LONGEST_EXPLANATION);
}

function givenUp(explanation: string): OutcomeDetails {
  return { outcome: 'ABANDONED', lines: [], reason: `given up by an operator; ${explanation}` };
}

function overdue(reason: string): OutcomeDetails {
  return { outcome: 'OVERDUE', lines: [], reason };
}

/**
 * Notifies the checkout of the outcome, with all keys of the sale. If the order has changed since its review it is reviewed again. An
 * event that can't be delivered is held; an operator has it sent again, or withholds it.
 *
 * @returns the outcome that the checkout was notified of, which an operator or a changed order may have changed.
 */
export async function deliverOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: OutcomeDetails,
): Promise<OutcomeDetails> {
  let details = first;
  let reviews = 0;
  // Of attempts without a receipt. A key of them that leaves the order is a person's business.
  let maybeDelivered: KeyIds = {};
  let countGone = 0;
  const reviewAgain = async () => {
    details = await reviewChanged(purchase, holds, details);
    const gone = missingKeys(maybeDelivered, keyIdsOf(details.lines));
    if (gone.length <= countGone) return;
    countGone = gone.length;
    raiseAlert(purchase, 'DELIVERED_KEYS_GONE', { maybeDelivered: gone.slice(0, MOST_SHOWN), count: countGone });
  };
  for (let isFirst = true; ; isFirst = false) {
    const delivered = await deliverSale(purchase, saleOf(purchase, details), isFirst);
    if (delivered.kind === 'RECEIVED') {
      purchase.events.push(delivered.event);
      return details;
    }
    if (delivered.kind !== 'CHANGED' || delivered.maybeSent) {
      maybeDelivered = unionOfKeys(maybeDelivered, keyIdsOf(details.lines));
    }
    if (delivered.kind === 'CHANGED' && reviews < MOST_REVIEWS) {
      reviews += 1;
      await reviewAgain();
      continue;
    }
    const problem = problemOf(delivered);
    const { decision } = await holds.hold(problem);
    if (decision === 'withhold') return withhold(purchase, details, problem);
    if (delivered.kind === 'CHANGED') await reviewAgain();
    reviews = 0;
  }
}

function problemOf(delivered: Exclude<SaleDeliveryEnd, { kind: 'RECEIVED' }>): HoldCause {
  switch (delivered.kind) {
    case 'CHANGED':
      return {
        reason: 'ORDER_CHANGES',
        explanation: 'the order changed each time between its review and its delivery',
      };
    case 'REFUSED':
      return { reason: 'DELIVERY_REFUSED', explanation: 'the checkout refused the event for good (410)' };
    case 'TOO_LARGE':
      return { reason: 'ORDER_TOO_LARGE', explanation: unreadable(delivered.why) };
    case 'EXHAUSTED':
      return { reason: 'DELIVERY_EXHAUSTED', explanation: delivered.why };
  }
}

/** Reviews the order as it is an interval later, because whatever changes it may not be done. */
async function reviewChanged(purchase: PurchaseRecord, holds: Holds, before: OutcomeDetails): Promise<OutcomeDetails> {
  const pause = boundedPause(purchase.settings.pollIntervalMs, Infinity);
  await sleep(pause, { summary: 'then the order is reviewed again' });
  const { orderId } = purchase;
  if (orderId === undefined) return before;
  const order = await pollOnce(purchase, orderId);
  // A poll without an end says nothing about the keys: the delivery then finds out whether they are there again.
  if ('why' in order || !endsPolling(order.status)) return before;
  return reviewOutcome(purchase, holds, order, true);
}

async function withhold(
  purchase: PurchaseRecord,
  details: OutcomeDetails,
  { explanation }: HoldCause,
): Promise<OutcomeDetails> {
  const reason = `withheld by an operator; ${explanation}`;
  const withheld: OutcomeDetails = { ...details, outcome: 'ABANDONED', lines: [], reason };
  const delivered = await deliverSale(purchase, saleOf(purchase, withheld), false);
  if (delivered.kind === 'RECEIVED') purchase.events.push(delivered.event);
  // Holding it once more would ask an operator whether to withhold that something was withheld.
  else log.error('the checkout does not know that it was given up', { why: delivered.kind });
  return withheld;
}

/** The event of an outcome: the sale as it is, with all of its keys. */
function saleOf({ input, orderId }: PurchaseRecord, details: OutcomeDetails): SaleDelivery {
  const { outcome, status, totalDebit, reason } = details;
  const ordered = input.items.map((item) => ({ ...item, keyIds: [] }));
  const lines = details.lines.length > 0 ? details.lines : ordered;
  const { referenceId } = input;
  return { type: eventTypeOf(outcome), referenceId, orderId, outcome, status, lines, totalDebit, reason };
}
