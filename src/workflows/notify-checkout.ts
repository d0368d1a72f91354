import { ActivityFailure, ApplicationFailure, log } from '@temporalio/workflow';
import {
  type Alert,
  type DeliveryRequest,
  type EventWithKeys,
  fingerprintsOf,
  lateDelivery,
  type RefusedDelivery,
} from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import { type EventPartition, partitionByEvent } from '../domain/already-delivered';
import { endsPolling } from '../domain/order';
import { eventTypeOf } from '../domain/outcome';
import { readOrder } from './await-order';
import { hold, type HoldCause, type Holds } from './holds';
import type { OutcomeDetails, PurchaseRecord } from './purchase-record';
import { reviewOrder } from './review-order';
import { sendEvent, sendEventAtOnce } from './send-event';

/** Why an event could not be delivered. */
type DeliveryProblem = HoldCause;

/** An event that a run before a reset sent. */
interface SentBefore {
  request: EventWithKeys;
  received: boolean;
  fingerprints: string[];
}

/**
 * Notifies the checkout of the outcome, with the keys. An event that can't be delivered is held; an operator then has it sent
 * again, after a new review if a key of it is gone, or withholds it. So is what takes the place of an event that a run before a
 * reset sent, and that can't be repeated.
 *
 * @returns the outcome that the checkout was notified of, which an operator or a changed order may have changed.
 */
export async function deliverOutcome(
  purchase: PurchaseRecord,
  holds: Holds,
  first: OutcomeDetails,
): Promise<OutcomeDetails> {
  let details = first;
  const partition = partitionOf(details);
  let undelivered = eventsOf(purchase, details, partition);
  let problem = partition.isKeyGone ? GONE_SINCE_RESET : await deliverFirst(purchase, details, undelivered);
  while (problem) {
    const { decision } = await hold(purchase, holds, problem);
    if (decision === 'withhold') return withhold(purchase, details, problem);
    const fresh = problem.reason === 'KEY_GONE' ? await reviewAgain(purchase, holds) : undefined;
    if (fresh && !isSameEvent(fresh, details)) {
      details = fresh;
      undelivered = eventsOf(purchase, details);
    }
    problem = await deliverAll(purchase, details, undelivered);
  }
  return details;
}

/** Delivers at once where that may be. What does not succeed goes on as that very event. */
async function deliverFirst(
  purchase: PurchaseRecord,
  details: OutcomeDetails,
  undelivered: DeliveryRequest[],
): Promise<DeliveryProblem | undefined> {
  const [event] = undelivered;
  const atOnce = details.mayDeliverAtOnce && event ? await sendEventAtOnce(event) : undefined;
  if (!atOnce) return deliverAll(purchase, details, undelivered);
  if ('refused' in atOnce) return PROBLEMS[atOnce.refused];
  purchase.noteReceived(atOnce);
  return undefined;
}

/** Delivers one event after the other; what is delivered leaves the list. */
async function deliverAll(
  purchase: PurchaseRecord,
  { outcome }: OutcomeDetails,
  undelivered: DeliveryRequest[],
): Promise<DeliveryProblem | undefined> {
  const event = eventTypeOf(outcome);
  purchase.show(
    'DELIVERING',
    `${event} is sent to the checkout`,
    'its receipt. Tried for a day, with growing pauses; then held',
  );
  try {
    for (const event of [...undelivered]) {
      purchase.noteReceived(await sendEvent(purchase.settings, event));
      undelivered.shift();
    }
    return undefined;
  } catch (failure) {
    return problemOf(failure);
  }
}

async function withhold(
  purchase: PurchaseRecord,
  details: OutcomeDetails,
  { explanation }: DeliveryProblem,
): Promise<OutcomeDetails> {
  const reason = `withheld by an operator; ${explanation}`;
  const withheld: OutcomeDetails = { ...details, outcome: 'ABANDONED', lines: [], reason };
  const problem = await deliverAll(purchase, withheld, eventsOf(purchase, withheld));
  // Holding it once more would ask an operator whether to withhold that something was withheld.
  if (problem) log.error('the checkout does not know that it was given up', { why: problem.explanation });
  return withheld;
}

/** What the order has come to since. A poll that shows no end says nothing about its keys, so it is no new outcome. */
async function reviewAgain(purchase: PurchaseRecord, holds: Holds): Promise<OutcomeDetails | undefined> {
  if (purchase.orderId === undefined) return undefined;
  const order = await readOrder(purchase, purchase.orderId);
  if (!order || !endsPolling(order.status)) return undefined;
  return reviewOrder(purchase, holds, order, false);
}

/** An event keeps its words as it keeps its keys: whoever receives it twice must not read two stories under one id. */
function isSameEvent(one: OutcomeDetails, other: OutcomeDetails): boolean {
  const keysOf = (details: OutcomeDetails) => JSON.stringify(fingerprintsOf(details).toSorted());
  return one.outcome === other.outcome && keysOf(one) === keysOf(other);
}

/**
 * The events of an outcome: one, unless a run before a reset has sent some of it. Then that is repeated word for word, and
 * only what no event has named is new.
 */
function eventsOf(
  purchase: PurchaseRecord,
  details: OutcomeDetails,
  { repeat, rest, nothingSent } = partitionOf(details),
): DeliveryRequest[] {
  const { outcome, lines, totalDebit, reason } = details;
  const header = purchase.eventHeader(details.at);
  if (nothingSent) {
    const ordered = purchase.input.items.map((item) => ({ ...item, fingerprints: [] }));
    const shown = lines.length > 0 ? lines : ordered;
    return [{ ...header, type: eventTypeOf(outcome), outcome, lines: shown, totalDebit, reason }];
  }
  const repeated = repeat.map(({ request }) => request);
  const { orderId } = header;
  if (rest.length === 0 || orderId === undefined) return repeated;
  return [...repeated, lateDelivery({ ...header, orderId, outcome, lines: rest, totalDebit })];
}

function partitionOf({ lines, earlier = [] }: OutcomeDetails): EventPartition<SentBefore> {
  const sentBefore = earlier.map(({ request, eventId }) => ({
    request,
    received: eventId !== undefined,
    fingerprints: fingerprintsOf(request),
  }));
  return partitionByEvent(lines, sentBefore);
}

/** Notifies the checkout of what a person must see but need not decide. */
export async function sendAlert(purchase: PurchaseRecord, { kind, details }: Alert): Promise<void> {
  try {
    const header = purchase.eventHeader();
    const event = { ...header, type: 'purchase.attention' as const, kind, details, deduplicationKey: kind };
    purchase.noteReceived(await sendEvent(purchase.settings, event));
  } catch {
    log.error('the checkout did not take an alert', { kind });
  }
}

const PROBLEMS: Record<RefusedDelivery['refused'], DeliveryProblem> = {
  DeliveryRefused: { reason: 'DELIVERY_REFUSED', explanation: 'the checkout refused the event for good (410)' },
  KeyGone: { reason: 'KEY_GONE', explanation: 'a key that was seen in the order is no longer there' },
};

const GONE_SINCE_RESET: DeliveryProblem = {
  reason: 'KEY_GONE',
  explanation: 'a key of an event that was sent before the reset, and may have arrived, is no longer in the order',
};

function problemOf(failure: unknown): DeliveryProblem {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const final = cause instanceof ApplicationFailure ? cause : undefined;
  if (final?.type === FAILURE.deliveryRefused || final?.type === FAILURE.keyGone) return PROBLEMS[final.type];
  const byOperator = !(failure instanceof ActivityFailure) || final?.nonRetryable === true;
  const explanation = byOperator
    ? 'the delivery of the event was ended by an operator, without a receipt'
    : 'the event was tried for a day and never taken';
  return { reason: 'DELIVERY_EXHAUSTED', explanation };
}
