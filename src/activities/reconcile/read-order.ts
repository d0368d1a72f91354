import { isPartnerError, type Order, type PartnerClient, type PartnerError, withRetry } from '../../partner/index';
import { readRetry } from '../../workflows/policies';

/**
 * Reads one order at the partner. What passes is tried again; what lasts is the answer, so that one order stops nobody.
 *
 * @throws the signal's reason; PartnerError when the client is closed.
 */
export async function readOrder(
  partner: PartnerClient,
  orderId: string,
  signal: AbortSignal,
): Promise<{ order: Order } | { error: PartnerError }> {
  try {
    const { data } = await withRetry({ ...readRetry, signal }, () => partner.getOrder(orderId));
    return { order: data };
  } catch (error) {
    signal.throwIfAborted();
    if (!isPartnerError(error) || error.kind === 'closed') throw error;
    return { error };
  }
}
