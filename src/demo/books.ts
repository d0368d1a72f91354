/** What the audit needs of the partner's books. */
export interface BookedOrder {
  id: string;
  referenceId: string;
  status: string;
  keys: string[];
}

/** What the checkout has received under one reference. */
export interface ReceivedKeys {
  referenceId: string;
  keys: string[];
}

/** One reference, the partner's books beside the checkout's. `fault` says what does not agree. */
export interface AuditLine {
  referenceId: string;
  orders: number;
  issued: number;
  received: number;
  fault?: string;
}

/**
 * Compares the partner's books with what the checkout received, line by line.
 *
 * @param withheld references whose keys need not have been handed over (overdue, given up by a person).
 */
export function audit(
  booked: readonly BookedOrder[],
  received: readonly ReceivedKeys[],
  withheld: ReadonlySet<string>,
): AuditLine[] {
  const references = [...new Set([...booked, ...received].map(({ referenceId }) => referenceId))].toSorted();
  return references.map((referenceId) => {
    const orders = booked.filter((order) => order.referenceId === referenceId);
    const issued = orders.flatMap((order) => order.keys);
    const got = received.filter((entry) => entry.referenceId === referenceId).flatMap((entry) => entry.keys);
    const line = { referenceId, orders: orders.length, issued: issued.length, received: got.length };
    const fault = faultOf(orders.length, issued, got, withheld.has(referenceId));
    return fault === undefined ? line : { ...line, fault };
  });
}

function faultOf(orders: number, issued: string[], got: string[], withheld: boolean): string | undefined {
  if (orders > 1) return `bought ${orders} times`;
  if (new Set(got).size < got.length) return 'a key was delivered twice';
  if (got.some((key) => !issued.includes(key))) return 'a key was delivered that the partner did not issue';
  if (!withheld && issued.some((key) => !got.includes(key))) return 'a key that was paid for was not delivered';
  return undefined;
}
