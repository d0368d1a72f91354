import type { LedgerOrder } from '../sandbox';
import type { DemoEvent } from './checkout';

/** One reference: the partner's ledger beside the checkout's events. `mismatch` says what does not agree. */
export interface AuditLine {
  referenceId: string;
  orders: number;
  issued: number;
  received: number;
  mismatch?: string;
}

/**
 * Compares the partner's ledger with what the checkout received, reference by reference.
 *
 * @param undelivered references whose keys need not have been delivered.
 */
export function audit(
  ledger: readonly LedgerOrder[],
  events: readonly DemoEvent[],
  undelivered: ReadonlySet<string>,
): AuditLine[] {
  const references = [...new Set([...ledger, ...events].map(({ referenceId }) => referenceId))].toSorted();
  return references.map((referenceId) => {
    const orders = ledger.filter((order) => order.referenceId === referenceId);
    const issued = orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value)));
    const received = events.filter((event) => event.referenceId === referenceId).flatMap(({ keys }) => keys);
    const mismatch = mismatchOf(orders.length, issued, received, undelivered.has(referenceId));
    return { referenceId, orders: orders.length, issued: issued.length, received: received.length, mismatch };
  });
}

function mismatchOf(orders: number, issued: string[], received: string[], undelivered: boolean): string | undefined {
  if (orders > 1) return `bought ${orders} times`;
  if (new Set(received).size < received.length) return 'a key was delivered twice';
  if (received.some((key) => !issued.includes(key))) return 'a key was delivered that the partner did not issue';
  if (!undelivered && issued.some((key) => !received.includes(key))) return 'a key that was paid for was not delivered';
  return undefined;
}
