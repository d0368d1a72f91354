import { countKeys, linesOf, removeOne } from './already-delivered';
import { assessOrder, type EventLine } from './assess-order';
import type { OrderSnapshot, PurchaseItem } from './order';

/** The keys of an order that were not handed over before. */
export interface NewKeys {
  lines: EventLine[];
  /** Why no key may be handed over although there may be new ones. */
  issue?: string;
  /** The order's present status allows no key to be handed over. */
  open?: boolean;
}

/**
 * Finds the keys of an order that were not handed over yet by comparing fingerprints. After a change of the fingerprint
 * secret no key can be shown to be new, so none is handed over: a key that is handed over twice may be sold twice.
 *
 * @param handedOver the fingerprints of all keys that any event named, received or not.
 */
export function newKeysOf(
  items: readonly PurchaseItem[],
  order: OrderSnapshot,
  handedOver: readonly string[],
): NewKeys {
  if (order.claimedBy !== undefined) {
    return { lines: [], issue: `order ${order.orderId} also belongs to ${order.claimedBy}` };
  }
  const assessment = assessOrder(items, order);
  if (assessment.kind === 'other-items' || assessment.kind === 'more-keys') {
    return { lines: [], issue: assessment.reason };
  }
  if (assessment.kind !== 'hand-over') return { lines: [], open: true };

  const present = assessment.lines.flatMap((line) => line.fingerprints);
  const secrets = new Set([...handedOver, ...present].map((fingerprint) => fingerprint.split('.')[0]));
  if (handedOver.length > 0 && secrets.size > 1) {
    const issue = 'FINGERPRINT_SECRET has changed since keys were handed over, so that old keys are not recognised';
    return { lines: [], issue };
  }
  const known = countKeys(handedOver);
  return { lines: linesOf(assessment.lines, (fingerprint) => !removeOne(known, fingerprint)) };
}
