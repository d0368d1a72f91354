import type { Fingerprinter } from '../../delivery';
import { secretIdOf } from '../../delivery';
import { type KeyIds, missingKeys, unionOfKeys } from '../../domain/line-totals';
import { presentableStatus } from '../../domain/order';
import type { PartnerOrder } from '../../domain/reconciliation/index';
import {
  isPartnerError,
  limitPauses,
  type Order,
  type PartnerClient,
  type PartnerError,
  type ReadRetry,
  withRetry,
} from '../../partner/index';
import { orderPauses, readRetry } from '../../workflows/policies';
import { nameKeys } from '../order-keys';

/** How the orders of one step of a reconciliation are read, all of them with the same one: it counts their pauses. */
export function orderRetry(signal: AbortSignal): ReadRetry {
  return { ...readRetry, mayPause: limitPauses(orderPauses), signal };
}

/**
 * Reads one order at the partner. What passes is tried again; what lasts is the answer, so that one order stops nobody.
 *
 * @throws the signal's reason; PartnerError when the client is closed.
 */
export async function readOrder(
  partner: PartnerClient,
  orderId: string,
  retry: ReadRetry,
): Promise<{ order: Order } | { error: PartnerError }> {
  try {
    const { data } = await withRetry(retry, () => partner.getOrder(orderId));
    return { order: data };
  } catch (error) {
    retry.signal.throwIfAborted();
    if (!isPartnerError(error) || error.kind === 'closed') throw error;
    return { error };
  }
}

/**
 * What is known of an order, with what it said when it was read by itself.
 *
 * @param confirmed the ids of the keys of its purchase that the checkout has confirmed.
 */
export function withOrder(
  fingerprints: Fingerprinter,
  known: PartnerOrder,
  order: Order,
  confirmed: KeyIds = {},
): PartnerOrder {
  const { status, totalDebit, products } = order;
  const [first, ...others] = products;
  // Of an order of several products a title would be that of a part.
  const title = others.length === 0 ? first?.title : undefined;
  const keysGone = countKeysGone(fingerprints, order, confirmed);
  return { ...known, status: presentableStatus(status), totalDebit, title, keysGone };
}

/** @returns undefined where a secret that named the keys is not here. */
function countKeysGone(fingerprints: Fingerprinter, order: Order, confirmed: KeyIds): number | undefined {
  const secretIds = new Set(Object.values(confirmed).flat().map(secretIdOf));
  const named: KeyIds[] = [];
  for (const secretId of secretIds) {
    if (!fingerprints.keyIds([], secretId)) return undefined;
    for (const { productId, keys } of nameKeys({ fingerprints }, order, secretId)) {
      named.push({ [productId]: keys.map(({ id }) => id) });
    }
  }
  return missingKeys(confirmed, unionOfKeys(...named)).length;
}
