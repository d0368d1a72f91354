import type { PolledOrder } from '../contracts/activities';
import { type Accepted, reviewOrder } from '../domain/review-order';
import { awaitOrder } from './await-order';
import { hold, type Holds } from './holds';
import type { OutcomeDetails, PurchaseRecord } from './purchase-record';

/**
 * Finds out how a purchase ends from its order. An order that must not be delivered as it is, is held: an operator accepts it,
 * names another order, or gives it up. What was accepted of that order before is not asked about again.
 *
 * @param first the order as it was polled; undefined if the partner could not be asked at the deadline.
 * @param isAnswer whether it is the answer to our own request. Otherwise its items are compared with the sale in every respect.
 */
export async function reviewOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: PolledOrder | undefined,
  isAnswer: boolean,
): Promise<OutcomeDetails> {
  const { items } = purchase.input;
  let order = first;
  let isOwn = isAnswer;
  let accepted: Accepted = purchase.acceptedOf(first?.orderId) ?? {};

  for (;;) {
    if (!order) return overdue('at the deadline the partner could not be asked');
    const { orderId, status, totalDebit, confirmedKeyIds } = order;
    if (confirmedKeyIds) purchase.noteConfirmed(confirmedKeyIds);
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
        const resolution = await hold(purchase, holds, review.issue);
        if (resolution.decision === 'abandon' || resolution.decision === 'withhold') {
          const reason = `given up by an operator; ${review.issue.explanation}`;
          return { outcome: 'ABANDONED', lines: [], totalDebit, reason };
        }
        const another = resolution.decision === 'order' ? resolution.orderId : undefined;
        if (another !== undefined) isOwn = false;
        accepted = another === undefined ? { ...accepted, ...review.issue.accepts } : {};
        order = await awaitOrder(purchase, { orderId: another ?? orderId, adopted: true });
      }
    }
  }
}

function overdue(reason: string): OutcomeDetails {
  return { outcome: 'OVERDUE', lines: [], reason };
}
