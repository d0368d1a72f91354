import type { Activities, CheckOrderInput, OrderCheck } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { isPartnerError, MAX_PAGE_SIZE, type PartnerClient } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import { failure, toFailure } from './failures';
import { type ActivityDependencies, describeIfValid, readPermits } from './dependencies';

/**
 * Checks the order that a decision names before the decision is accepted. With a mistyped id, the hold would close, and
 * the purchase would wait for the wrong order until its deadline.
 */
export function createCheckOrderActivities(deps: ActivityDependencies): Pick<Activities, 'checkOrder'> {
  return {
    async checkOrder({ orderId, referenceId }): Promise<OrderCheck> {
      const [isThere, inHistory] = await deps.partner.withPermits(readPermits(deps, 'delivery'), (partner) =>
        Promise.all([isAtPartner(partner, orderId), referenceInHistory(partner, orderId)]),
      );
      if (!isThere) return { usable: false, reason: `the partner has no order ${orderId}` };
      const owner = await otherOwner(deps.purchases, { orderId, referenceId }, inHistory);
      if (owner === undefined) return { usable: true };
      return { usable: false, reason: `order ${orderId} belongs to purchase ${owner}` };
    },
  };
}

async function isAtPartner(partner: PartnerClient, orderId: string): Promise<boolean> {
  try {
    await partner.getOrder(orderId);
    return true;
  } catch (error) {
    if (isPartnerError(error) && error.kind === 'not-found') return false;
    // An operator is waiting, so an error that no retry can fix is reported at once.
    if (isPartnerError(error) && !error.retryable) {
      throw failure(FAILURE.partnerUnavailable, error.summary, { final: true });
    }
    throw toFailure(error);
  }
}

/** @returns the order's reference in the history; undefined if it can't be read, which may be the cause of the hold */
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
 * The reference of another purchase that owns the order, if any. The reference at the partner decides. A purchase that
 * adopted the order counts only if the partner shows no known reference.
 */
async function otherOwner(
  purchases: PurchaseReader,
  { orderId, referenceId }: CheckOrderInput,
  inHistory: string | undefined,
): Promise<string | undefined> {
  if (inHistory === referenceId) return undefined;
  if (inHistory !== undefined && (await describeIfValid(purchases, inHistory))) return inHistory;
  const [adoptedBy] = await purchases.othersWithOrder(orderId, referenceId);
  return adoptedBy;
}
