import { ActivityFailure, ApplicationFailure, log } from '@temporalio/workflow';
import type { PolledOrder } from '../contracts/activities';
import { type Alert, type DeliveryRequest, fingerprintsOf, lateDelivery } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import type { HoldReason } from '../contracts/purchase';
import { partitionByEvent } from '../domain/already-delivered';
import { differenceOf, assessOrder, type EventLine } from '../domain/assess-order';
import { endsPolling, type OrderSnapshot } from '../domain/order';
import { eventTypeOf } from '../domain/outcome';
import { hold } from './holds';
import type { Placement } from './place-order';
import type { Ending, PurchaseRecord } from './purchase-record';
import { tell } from './notify-checkout';
import { JUST_PLACED, lookOnce, NEVER_SEEN, type Sighting, watchOrder } from './await-order';

/** What a person has accepted of an order that is not as it should be. */
interface Accepted {
  items: boolean;
  owner: boolean;
  surplus: boolean;
}

const NOTHING_ACCEPTED: Accepted = { items: false, owner: false, surplus: false };

/** From the placement to the checkout's receipt. */
export async function fulfil(purchase: PurchaseRecord, placement: Placement): Promise<Ending> {
  if (placement.kind === 'ended') return tellEnding(purchase, placement.ending);
  purchase.hasOrder(placement.orderId);
  const sighting = await watchOrder(purchase, placement.orderId, placement.adopted ? NEVER_SEEN : JUST_PLACED);
  const ending = await endingOf(purchase, sighting, placement.adopted);
  return tellEnding(purchase, ending);
}

/** Judges what was seen, with the help of people where the order is not as it should be. */
async function endingOf(purchase: PurchaseRecord, first: Sighting, adopted: boolean): Promise<Ending> {
  let accepted = NOTHING_ACCEPTED;
  let sighting = first;
  let compare = adopted;

  for (;;) {
    const { order } = sighting;
    if (!order) return overdue('at the deadline the partner could not be asked');
    const doubt = doubtAbout(purchase, order, compare, accepted);
    if (!doubt) return endingFrom(purchase, order);

    const answer = await hold(purchase, doubt.reason, doubt.explanation);
    if (answer.kind === 'abandon' || answer.kind === 'withhold') return givenUp(order, doubt.explanation);
    if (answer.kind === 'order' && answer.orderId !== undefined) {
      compare = true;
      accepted = NOTHING_ACCEPTED;
      purchase.hasOrder(answer.orderId);
      sighting = await watchOrder(purchase, answer.orderId, NEVER_SEEN);
    } else {
      accepted = { ...accepted, [doubt.accepts]: true };
      purchase.hasOrder(order.orderId);
      sighting = await watchOrder(purchase, order.orderId, NEVER_SEEN);
    }
  }
}

interface Doubt {
  reason: HoldReason;
  explanation: string;
  accepts: keyof Accepted;
}

function doubtAbout(
  purchase: PurchaseRecord,
  order: OrderSnapshot,
  compare: boolean,
  accepted: Accepted,
): Doubt | undefined {
  if (order.claimedBy !== undefined && !accepted.owner) {
    const explanation = `order ${order.orderId} also belongs to ${order.claimedBy}`;
    return { reason: 'ORDER_OF_ANOTHER_PURCHASE', explanation, accepts: 'owner' };
  }
  const difference = compare ? differenceOf(purchase.input.items, order.lines) : undefined;
  if (difference !== undefined && !accepted.items) {
    return { reason: 'OTHER_ITEMS', explanation: difference, accepts: 'items' };
  }
  const judgement = assessOrder(purchase.input.items, order);
  if (judgement.kind === 'other-items' && !accepted.items) {
    return { reason: 'OTHER_ITEMS', explanation: judgement.reason, accepts: 'items' };
  }
  if (judgement.kind === 'more-keys' && !accepted.surplus) {
    return { reason: 'MORE_KEYS_THAN_ORDERED', explanation: judgement.reason, accepts: 'surplus' };
  }
  return undefined;
}

/** The ending of an order that is as it should be, or was accepted by a person as it is. */
function endingFrom(purchase: PurchaseRecord, order: PolledOrder): Ending {
  const judgement = assessOrder(purchase.input.items, order);
  const { totalDebit, earlier } = order;
  switch (judgement.kind) {
    case 'nothing':
      return { outcome: judgement.outcome, lines: [], totalDebit, reason: `the partner says ${order.status}` };
    case 'open':
      return { ...overdue(`still ${order.status} at the deadline`), totalDebit };
    default: {
      const { lines, reason } = judgement;
      const whole = judgement.kind === 'hand-over' ? judgement.whole : isWhole(purchase, lines);
      return { outcome: whole ? 'DELIVERED' : 'PARTIALLY_DELIVERED', lines, totalDebit, earlier, reason };
    }
  }
}

function isWhole(purchase: PurchaseRecord, lines: readonly EventLine[]): boolean {
  return purchase.input.items.every((item) => {
    const own = lines.filter((line) => line.productId === item.productId);
    return own.reduce((total, line) => total + line.fingerprints.length, 0) >= item.quantity;
  });
}

/**
 * Tells the checkout how it ended. An event that can't be handed over is held; a person then sends it again, after a fresh
 * look if a key of it is gone, or withholds it.
 */
async function tellEnding(purchase: PurchaseRecord, first: Ending): Promise<Ending> {
  let ending = first;
  let messages: DeliveryRequest[] = messagesOf(purchase, ending);
  for (;;) {
    const trouble = await tryToTell(purchase, ending, messages);
    if (!trouble) break;
    const answer = await hold(purchase, trouble.reason, trouble.explanation);
    if (answer.kind === 'withhold') {
      ending = { ...ending, outcome: 'ABANDONED', lines: [], reason: `withheld by a person; ${trouble.explanation}` };
      const untold = await tryToTell(purchase, ending, messagesOf(purchase, ending));
      // Asking a person again would be asking whether to withhold that something was withheld.
      if (untold) log.error('the checkout does not know that it was given up', { why: untold.explanation });
      break;
    }
    if (trouble.reason === 'KEY_GONE' && purchase.orderId !== undefined) {
      const fresh = await freshEnding(purchase, purchase.orderId);
      if (fresh && !isSameEvent(fresh, ending)) {
        ending = fresh;
        messages = messagesOf(purchase, ending);
      }
    }
  }
  for (const attention of purchase.attentions) await tellAttention(purchase, attention);
  return ending;
}

/** What the order has come to since. A look that shows no end says nothing about its keys, so it is no new ending. */
async function freshEnding(purchase: PurchaseRecord, orderId: string): Promise<Ending | undefined> {
  const sighting = await lookOnce(purchase, orderId);
  if (!sighting.order || !endsPolling(sighting.order.status)) return undefined;
  return endingOf(purchase, sighting, false);
}

/** An event has its words for good, as it has its keys: whoever gets it twice must not see two stories under one id. */
function isSameEvent(one: Ending, other: Ending): boolean {
  const named = ({ lines }: Ending) => JSON.stringify(fingerprintsOf({ lines }).toSorted());
  return one.outcome === other.outcome && named(one) === named(other);
}

/** Tells one message after the other; what is told leaves the list. */
async function tryToTell(
  purchase: PurchaseRecord,
  ending: Ending,
  messages: DeliveryRequest[],
): Promise<Trouble | undefined> {
  purchase.enter('DELIVERING', `${eventTypeOf(ending.outcome)} to the checkout`);
  try {
    for (const event of [...messages]) {
      await tell(purchase, event);
      messages.shift();
    }
    return undefined;
  } catch (failure) {
    return troubleOf(failure);
  }
}

/**
 * What the checkout is told of an ending: one event, unless a run before a reset has told some of it. Then that is repeated
 * word for word, and only what no event has named is new.
 */
function messagesOf(purchase: PurchaseRecord, ending: Ending): DeliveryRequest[] {
  const { outcome, lines, totalDebit, reason } = ending;
  const at = new Date().toISOString();
  const { orderId, input } = purchase;
  const { referenceId } = input;
  const earlier = (ending.earlier ?? []).map(({ request, eventId }) => ({
    request,
    received: eventId !== undefined,
    fingerprints: fingerprintsOf(request),
  }));
  const { repeat, rest, nothingSent: untold } = partitionByEvent(lines, earlier);
  if (untold) {
    const type = eventTypeOf(outcome);
    return [{ type, at, referenceId, orderId, outcome, lines: eventLines(purchase, lines), totalDebit, reason }];
  }
  const again = repeat.map(({ request }) => request);
  if (rest.length === 0 || orderId === undefined) return again;
  return [...again, lateDelivery({ at, referenceId, orderId, outcome, lines: rest, totalDebit })];
}

/** What was sold, with what came for it: nothing, for an outcome without keys. */
function eventLines(purchase: PurchaseRecord, lines: readonly EventLine[]) {
  if (lines.length > 0) return [...lines];
  return purchase.input.items.map((item) => ({ ...item, fingerprints: [] }));
}

async function tellAttention(purchase: PurchaseRecord, { kind, details }: Alert): Promise<void> {
  try {
    await tell(purchase, {
      type: 'purchase.attention',
      at: new Date().toISOString(),
      referenceId: purchase.input.referenceId,
      orderId: purchase.orderId,
      kind,
      details,
      deduplicationKey: kind,
    });
  } catch {
    log.error('the checkout did not take an attention', { kind });
  }
}

interface Trouble {
  reason: HoldReason;
  explanation: string;
}

function troubleOf(failure: unknown): Trouble {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const final = cause instanceof ApplicationFailure ? cause : undefined;
  if (final?.type === FAILURE.deliveryRefused) {
    return { reason: 'DELIVERY_REFUSED', explanation: 'the checkout refused the event for good (410)' };
  }
  if (final?.type === FAILURE.keyGone) {
    return { reason: 'KEY_GONE', explanation: 'a key that was seen in the order is no longer there' };
  }
  const byHand = !(failure instanceof ActivityFailure) || final?.nonRetryable === true;
  const explanation = byHand
    ? 'the delivery of the event was ended by hand, without a receipt'
    : 'the event was tried for a day and never taken';
  return { reason: 'DELIVERY_EXHAUSTED', explanation };
}

function overdue(reason: string): Ending {
  return { outcome: 'OVERDUE', lines: [], reason };
}

function givenUp(order: OrderSnapshot, explanation: string): Ending {
  return {
    outcome: 'ABANDONED',
    lines: [],
    totalDebit: order.totalDebit,
    reason: `given up by a person; ${explanation}`,
  };
}
