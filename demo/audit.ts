import type { LedgerOrder } from '../sandbox';
import type { DemoEvent } from './checkout';

/** One reference in the partner's ledger and in the checkout's events. `mismatch` describes a difference. */
export interface AuditLine {
  referenceId: string;
  /** False for an order that no purchase placed. The checkout must not receive its keys. */
  isPurchase: boolean;
  orders: number;
  issued: number;
  received: number;
  mismatch?: string;
}

/**
 * Compares the partner's ledger with what the checkout received, reference by reference.
 *
 * @param withoutPurchase references of orders that no purchase placed.
 */
export function audit(
  ledger: readonly LedgerOrder[],
  events: readonly DemoEvent[],
  withoutPurchase: ReadonlySet<string>,
): AuditLine[] {
  const references = [...new Set([...ledger, ...events].map(({ referenceId }) => referenceId))];
  const lines = references.map((referenceId) => {
    const isPurchase = !withoutPurchase.has(referenceId);
    const orders = ledger.filter((order) => order.referenceId === referenceId);
    const issued = orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value)));
    const received = events.filter((event) => event.referenceId === referenceId).flatMap(({ keys }) => keys);
    const mismatch = mismatchOf(orders.length, issued, received, isPurchase);
    return {
      referenceId,
      isPurchase,
      orders: orders.length,
      issued: issued.length,
      received: received.length,
      mismatch,
    };
  });
  return lines.toSorted(
    (a, b) => Number(b.isPurchase) - Number(a.isPurchase) || (a.referenceId < b.referenceId ? -1 : 1),
  );
}

function mismatchOf(orders: number, issued: string[], received: string[], isPurchase: boolean): string | undefined {
  if (orders > 1) return `bought ${orders} times`;
  if (new Set(received).size < received.length) return 'a key was delivered twice';
  if (received.some((key) => !issued.includes(key))) return 'a key was delivered that the partner did not issue';
  if (!isPurchase) return received.length > 0 ? 'a key of an order without a purchase was delivered' : undefined;
  if (issued.some((key) => !received.includes(key))) return 'a key was paid for but not delivered';
  return undefined;
}
