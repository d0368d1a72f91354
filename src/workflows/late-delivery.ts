import type { DeliveryRequest, EventLine } from '../contracts/activities';
import type { PurchaseItem } from '../contracts/purchase';
import { judgeOrder } from '../domain/judgement';
import type { OrderView } from '../domain/order';

export const LATE_DELIVERY = 'purchase.late_delivery';

/** What a look at the order of an overdue purchase adds: keys that nobody has yet, or a doubt that keeps them back. */
export interface LateKeys {
  lines: EventLine[];
  doubt?: string;
}

/**
 * The keys of an overdue order that were not handed over by the late deliveries before.
 *
 * Keys are told apart by their fingerprints alone. So after a change of the fingerprint secret nothing is new for sure,
 * and nothing more is handed over: a key that is handed over twice may be sold twice.
 */
export function lateKeysOf(
  items: readonly PurchaseItem[],
  order: OrderView,
  earlier: readonly DeliveryRequest[],
): LateKeys {
  if (order.claimedBy !== undefined) {
    return { lines: [], doubt: `order ${order.orderId} also belongs to ${order.claimedBy}` };
  }
  const judgement = judgeOrder(items, order);
  if (judgement.kind === 'other-items' || judgement.kind === 'more-keys') return { lines: [], doubt: judgement.reason };
  if (judgement.kind !== 'hand-over') return { lines: [] };

  const handedOver = earlier.flatMap((event) => event.lines ?? []).flatMap((line) => line.fingerprints);
  const there = judgement.lines.flatMap((line) => line.fingerprints);
  const secrets = new Set([...handedOver, ...there].map((fingerprint) => fingerprint.split('.')[0]));
  if (handedOver.length > 0 && secrets.size > 1) {
    return {
      lines: [],
      doubt: 'FINGERPRINT_SECRET has changed since the last late delivery, so new keys look like old ones',
    };
  }
  const lines = judgement.lines.map((line) => ({ ...line, fingerprints: without(line.fingerprints, handedOver) }));
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
