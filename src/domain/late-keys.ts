import { type Bought, itemsIssue } from './accepted';
import { countKeys, linesOf, removeOne } from './already-delivered';
import { assessOrder, type EventLine, keysDue } from './assess-order';
import { keyCount, totalQuantity } from './line-totals';
import { mayHaveKeys, type OrderSnapshot } from './order';

/**
 * What of a purchase that has ended is delivered: `new` keys, with the events of which nobody knows whether they arrived and
 * which nobody tries any more; or `all`, what the checkout has received before too.
 */
export type DeliveryScope = 'new' | 'all';

/**
 * An event with keys that was sent before. `failed`: a delivery after the end of its purchase was refused, stopped, or has
 * tried for a day. `lost`: the purchase itself sent it and was stopped, so nobody knows whether it arrived.
 */
export interface SentKeys {
  fingerprints: readonly string[];
  state: 'received' | 'failed' | 'lost';
}

/** What is to be sent after the end of a purchase. */
export interface KeysToSend<T extends SentKeys> extends NewKeys {
  /** Events that are sent again unchanged. */
  repeat: T[];
  /** How many keys the purchase is to have in all. */
  ordered: number;
  /** How many of them no event hands over, now or before. */
  missing: number;
}

/** The keys of an order that no event has named. */
interface NewKeys {
  lines: EventLine[];
  /** Why no key may be handed over although there may be new ones. */
  issue?: string;
}

/**
 * Finds what is to be sent after the end of a purchase. A key stays in the event that named it first, received or not,
 * because it may have arrived; the keys that no event has named are new.
 *
 * @param order as it was read now; undefined if it was not read, because no key is missing.
 * @param sent every event with keys that was ever sent for this purchase.
 */
export function keysToSend<T extends SentKeys>(
  scope: DeliveryScope,
  bought: Bought,
  order: OrderSnapshot | undefined,
  sent: readonly T[],
): KeysToSend<T> {
  const named = sent.flatMap((event) => event.fingerprints);
  const fresh: NewKeys = order ? newKeysOf(bought, order, named) : { lines: [] };
  const received = sent.filter(({ state }) => state === 'received');
  const unreceived = unreceivedOf(sent, received, order);
  const lost = unreceived.filter(({ state }) => state === 'lost');
  const mayRepeat = order !== undefined && fresh.issue === undefined && mayHaveKeys(order.status);
  const repeat = scope === 'all' ? [...received, ...unreceived] : mayRepeat ? lost : [];

  const handedOver = new Set([...received, ...repeat]);
  const { items, accepted = {} } = bought;
  const ordered = order ? keysDue(items, order, accepted) : totalQuantity(items);
  return { ...fresh, repeat, ordered, missing: Math.max(0, ordered - keyCount([...handedOver, ...fresh.lines])) };
}

/**
 * The events that may still have to arrive. An operator may have decided that an order is delivered as it is, because a key
 * of an event was gone: the other keys of that event were then received in another, and it is not sent any more.
 */
function unreceivedOf<T extends SentKeys>(
  sent: readonly T[],
  received: readonly T[],
  order: OrderSnapshot | undefined,
): T[] {
  const had = received.flatMap(({ fingerprints }) => fingerprints);
  const known = new Set(had);
  const left = countKeys((order?.lines ?? []).flatMap(({ fingerprints }) => fingerprints));
  for (const fingerprint of had) removeOne(left, fingerprint);
  return sent.filter(
    ({ state, fingerprints }) =>
      state !== 'received' &&
      fingerprints.every((fingerprint) => !known.has(fingerprint) || removeOne(left, fingerprint)),
  );
}

/** Compares fingerprints: all must be made with the secrets of those that were named before. */
function newKeysOf(bought: Bought, order: OrderSnapshot, named: readonly string[]): NewKeys {
  const { items, accepted = {} } = bought;
  if (order.claimedBy !== undefined && !accepted.owner) {
    return { lines: [], issue: `order ${order.orderId} also belongs to ${order.claimedBy}` };
  }
  const assessment = assessOrder(items, order);
  if (assessment.kind === 'nothing' || assessment.kind === 'open') return { lines: [] };
  const difference = assessment.kind === 'other-items' ? assessment.reason : undefined;
  const isSurplus = assessment.kind === 'more-keys' && assessment.surplus > (accepted.surplus ?? 0);
  const issue = isSurplus ? assessment.reason : itemsIssue(difference, bought, order.lines);
  if (issue !== undefined) return { lines: [], issue };
  const known = countKeys(named);
  return { lines: linesOf(assessment.lines, (fingerprint) => !removeOne(known, fingerprint)) };
}
