import { WorkflowNotFoundError } from '@temporalio/client';
import type { Activities, CheckOrderInput, OrderCheck } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { REFERENCE_PATTERN } from '../domain/order';
import { isPartnerError, MAX_PAGE_SIZE, type PartnerClient } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import { failure, toFailure } from './failures';
import { type ActivityDependencies, readPermits } from './dependencies';

/**
 * Reads an order that a decision names, before it is accepted: a mistyped id would cost the time of a whole purchase, and the
 * hold with its other decisions. Free to repeat.
 */
export function createCheckOrderActivities(deps: ActivityDependencies): Pick<Activities, 'checkOrder'> {
  return {
    async checkOrder(input): Promise<OrderCheck> {
      const [isThere, other] = await deps.partner.withPermits(readPermits(deps, 'delivery'), (partner) =>
        Promise.all([
          isAtPartner(partner, input.orderId),
          // The order may be readable while the history is not, which may be the very reason for the hold.
          ownerInHistory(partner, input.orderId).catch((error: unknown) => passing(error)),
        ]),
      );
      if (!isThere) return { usable: false, why: `the partner has no order ${input.orderId}` };
      const owner = await otherOwner(deps.purchases, input, other);
      if (owner === undefined) return { usable: true };
      return { usable: false, why: `order ${input.orderId} belongs to the purchase ${owner}` };
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

/** @returns the reference under which the history shows the order; undefined if it does not. */
async function ownerInHistory(partner: PartnerClient, orderId: string): Promise<string | undefined> {
  const { data } = await partner.listOrders({ search: orderId, limit: MAX_PAGE_SIZE });
  return data.orders.find((row) => row.id === orderId)?.referenceId;
}

function passing(error: unknown): undefined {
  if (!isPartnerError(error)) throw toFailure(error);
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
  if (inHistory !== undefined && (await isPurchase(purchases, inHistory))) return inHistory;
  const [adoptedBy] = await purchases.othersWithOrder(orderId, referenceId);
  return adoptedBy;
}

async function isPurchase(purchases: PurchaseReader, referenceId: string): Promise<boolean> {
  if (!REFERENCE_PATTERN.test(referenceId)) return false;
  try {
    await purchases.describe(referenceId);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
