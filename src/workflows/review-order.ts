import type { PolledOrder } from '../contracts/activities';
import { type Accepted, itemsIssue, productsOf } from '../domain/accepted';
import { assessOrder, differenceOf, type EventLine, exactLines, keysDue } from '../domain/assess-order';
import { keyCount } from '../domain/line-totals';
import type { OrderSnapshot } from '../domain/order';
import { awaitOrder } from './await-order';
import { hold, type HoldCause, type Holds } from './holds';
import type { OutcomeDetails, PurchaseRecord } from './purchase-record';

const NOTHING_ACCEPTED: Readonly<Accepted> = {};

/** Why an order must not be delivered as it is, and what an operator accepts who lets it be delivered all the same. */
interface ReviewIssue extends HoldCause {
  accepts: Accepted;
}

/**
 * Finds out what an order comes to. One that is not as it should be is held; an operator accepts it as it is, names another
 * order, or gives it up. What was accepted of that order before is not asked about again.
 *
 * @param first the order as it was polled; undefined if at the deadline the partner could not be asked.
 * @param adopted whether it is not the answer to our own request, so that its items are compared with those of the purchase.
 */
export async function reviewOrder(
  purchase: PurchaseRecord,
  holds: Holds,
  first: PolledOrder | undefined,
  adopted: boolean,
): Promise<OutcomeDetails> {
  let accepted = purchase.acceptedOf(first?.orderId) ?? NOTHING_ACCEPTED;
  let order = first;
  let compare = adopted;

  for (;;) {
    if (!order) return overdue('at the deadline the partner could not be asked');
    const issue = findIssue(purchase, order, compare, accepted);
    if (!issue) return { ...outcomeOf(purchase, order, accepted), ...exactnessOf(purchase, order, compare, accepted) };

    const resolution = await hold(purchase, holds, issue);
    if (resolution.decision === 'abandon' || resolution.decision === 'withhold') {
      return abandoned(order, issue.explanation);
    }
    const another = resolution.decision === 'order' ? resolution.orderId : undefined;
    if (another !== undefined) compare = true;
    accepted = another === undefined ? { ...accepted, ...issue.accepts } : NOTHING_ACCEPTED;
    order = await awaitOrder(purchase, { orderId: another ?? order.orderId });
  }
}

function findIssue(
  { input }: PurchaseRecord,
  order: OrderSnapshot,
  compare: boolean,
  accepted: Accepted,
): ReviewIssue | undefined {
  if (order.claimedBy !== undefined && !accepted.owner) {
    const explanation = `order ${order.orderId} also belongs to ${order.claimedBy}`;
    return { reason: 'ORDER_OF_ANOTHER_PURCHASE', explanation, accepts: { owner: true } };
  }
  const { items } = input;
  const assessment = assessOrder(items, order);
  const foreign = assessment.kind === 'other-items' ? assessment.reason : undefined;
  const difference = compare ? differenceOf(items, order.lines) : foreign;
  const otherItems = itemsIssue(difference, { items, accepted }, order.lines);
  if (otherItems !== undefined) {
    return { reason: 'OTHER_ITEMS', explanation: otherItems, accepts: { items: productsOf(order.lines) } };
  }
  if (assessment.kind === 'more-keys' && assessment.surplus > (accepted.surplus ?? 0)) {
    const { reason: explanation, surplus } = assessment;
    return { reason: 'MORE_KEYS_THAN_ORDERED', explanation, accepts: { surplus } };
  }
  return undefined;
}

/** The outcome of an order that is as it should be, or was accepted by an operator as it is. */
function outcomeOf({ input }: PurchaseRecord, order: PolledOrder, accepted: Accepted): OutcomeDetails {
  const assessment = assessOrder(input.items, order);
  const { totalDebit, earlier } = order;
  switch (assessment.kind) {
    case 'nothing':
      return { outcome: assessment.outcome, lines: [], totalDebit, reason: `the partner says ${order.status}` };
    case 'open':
      return { ...overdue(`still ${order.status} at the deadline`), totalDebit };
    default: {
      const { lines, reason } = assessment;
      const whole = assessment.kind === 'hand-over' ? assessment.whole : isWhole(input.items, lines);
      const ordered = keysDue(input.items, order, accepted);
      return { outcome: whole ? 'DELIVERED' : 'PARTIALLY_DELIVERED', lines, ordered, totalDebit, earlier, reason };
    }
  }
}

/**
 * Of an order that is exactly as ordered, the instant that its event bears is the one on record. And where the order was the
 * answer to our own request and nobody had to decide, the first attempt to deliver it may be local.
 */
function exactnessOf(
  { input }: PurchaseRecord,
  order: PolledOrder,
  compare: boolean,
  accepted: Accepted,
): Pick<OutcomeDetails, 'at' | 'mayDeliverAtOnce'> {
  const at = order.polledAt ?? undefined;
  if (at === undefined || accepted !== NOTHING_ACCEPTED || !exactLines(input.items, order)) return {};
  return { at, mayDeliverAtOnce: !compare && (order.earlier ?? []).length === 0 };
}

function isWhole(items: PurchaseRecord['input']['items'], lines: readonly EventLine[]): boolean {
  return items.every((item) => {
    const own = lines.filter((line) => line.productId === item.productId);
    return keyCount(own) >= item.quantity;
  });
}

function overdue(reason: string): OutcomeDetails {
  return { outcome: 'OVERDUE', lines: [], reason };
}

function abandoned({ totalDebit }: OrderSnapshot, explanation: string): OutcomeDetails {
  return { outcome: 'ABANDONED', lines: [], totalDebit, reason: `given up by an operator; ${explanation}` };
}
