import type { Activities, CheckOrderInput, OrderCheck } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { isPartnerError, MAX_PAGE_SIZE, type PartnerClient } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import { failure, toFailure } from './failures';
import { type ActivityDependencies, readPermits } from './dependencies';
import { describeIfKnown } from './read-sale';

/**
 * Reads an order that a decision names, before it is accepted: a mistyped id would cost the time of a whole purchase, and the
 * hold with its other decisions. Free to repeat.
 */
export function createCheckOrderActivities(deps: ActivityDependencies): Pick<Activities, 'checkOrder'> {
  return {
    async checkOrder({ orderId, referenceId }): Promise<OrderCheck> {
      const [isThere, inHistory] = await deps.partner.withPermits(readPermits(deps, 'delivery'), (partner) =>
        Promise.all([isAtPartner(partner, orderId), referenceInHistory(partner, orderId)]),
      );
      if (!isThere) return { usable: false, why: `the partner has no order ${orderId}` };
      const owner = await otherOwner(deps.purchases, { orderId, referenceId }, inHistory);
      if (owner === undefined) return { usable: true };
      return { usable: false, why: `order ${orderId} belongs to the purchase ${owner}` };
    },
  };
}

async function isAtPartner(partner: PartnerClient, orderId: string): Promise<boolean> {
  try {
    await partner.getOrder(orderId);
    return true;
  } catch (error) {
    if (isPartnerError(error) && error.kind === 'not-found') return false;
    // Somebody waits: what no later attempt changes is said at once.
    if (isPartnerError(error) && !error.retryable) {
      throw failure(FAILURE.partnerUnavailable, error.message, { final: true });
    }
    throw toFailure(error);
  }
}

/** @returns the reference under which the history shows the order, if it does and can be read: that it can't may be why there is a hold. */
async function referenceInHistory(partner: PartnerClient, orderId: string): Promise<string | undefined> {
  try {
    const { data } = await partner.listOrders({ search: orderId, limit: MAX_PAGE_SIZE });
    return data.orders.find((row) => row.id === orderId)?.referenceId;
  } catch (error) {
    if (isPartnerError(error)) return undefined;
    throw toFailure(error);
  }
}

/**
 * The reference of another purchase that the order belongs to. What the partner says counts for more than what a purchase
 * here has adopted: an order that bears this reference is this purchase's, whoever has named it by mistake.
 */
async function otherOwner(
  purchases: PurchaseReader,
  { orderId, referenceId }: CheckOrderInput,
  inHistory: string | undefined,
): Promise<string | undefined> {
  if (inHistory === referenceId) return undefined;
  if (inHistory !== undefined && (await describeIfKnown(purchases, inHistory))) return inHistory;
  const [adoptedBy] = await purchases.othersWithOrder(orderId, referenceId);
  return adoptedBy;
}
