import { assessOrder, type EventLine } from './assess-order';
import type { OrderSnapshot } from './order';

/** What an order adds to what was handed over before: keys that nobody has yet, or a doubt that keeps them back. */
export interface NewKeys {
  lines: EventLine[];
  /** Why nothing may be handed over, though there may be keys. */
  doubt?: string;
  /** The order hands nothing over in its present status. */
  open?: boolean;
}

/**
 * The keys of an order that were not handed over yet, told apart by their fingerprints alone. So after a change of the
 * fingerprint secret nothing is new for sure, and nothing more is handed over: a key that is handed over twice may be
 * sold twice.
 *
 * @param handedOver the fingerprints of all that was ever on its way to the checkout.
 */
export function newKeysOf(
  items: readonly { productId: string; quantity: number }[],
  order: OrderSnapshot,
  handedOver: readonly string[],
): NewKeys {
  if (order.claimedBy !== undefined) {
    return { lines: [], doubt: `order ${order.orderId} also belongs to ${order.claimedBy}` };
  }
  const judgement = assessOrder(items, order);
  if (judgement.kind === 'other-items' || judgement.kind === 'more-keys') return { lines: [], doubt: judgement.reason };
  if (judgement.kind !== 'hand-over') return { lines: [], open: true };

  const there = judgement.lines.flatMap((line) => line.fingerprints);
  const secrets = new Set([...handedOver, ...there].map((fingerprint) => fingerprint.split('.')[0]));
  if (handedOver.length > 0 && secrets.size > 1) {
    return {
      lines: [],
      doubt: 'FINGERPRINT_SECRET has changed since keys were handed over, so old keys look like new ones',
    };
  }
  const taken = [...handedOver];
  const lines = judgement.lines.map((line) => ({ ...line, fingerprints: without(line.fingerprints, taken) }));
  return { lines: lines.filter((line) => line.fingerprints.length > 0) };
}

/** Each of `taken` takes out one of its like, for the same key may stand in an order twice. */
function without(fingerprints: readonly string[], taken: string[]): string[] {
  return fingerprints.filter((fingerprint) => {
    const index = taken.indexOf(fingerprint);
    if (index >= 0) taken.splice(index, 1);
    return index < 0;
  });
}
