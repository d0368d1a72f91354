import { proxyActivities } from '@temporalio/workflow';
import type { Activities, DeliveryRequest } from '../contracts/activities';
import { isReceipt } from './activity-result-guards';
import { delivering } from './policies';
import type { PurchaseRecord } from './purchase-record';

/**
 * Tells the checkout one event of this purchase, for a day if need be.
 *
 * @param at ISO 8601: when it happened. An event that is told again after a hold keeps its own.
 * @throws ActivityFailure when it was refused for good, or tried for a day.
 */
export async function tell(
  purchase: PurchaseRecord,
  event: Omit<DeliveryRequest, 'referenceId' | 'orderId' | 'at'>,
  at = new Date().toISOString(),
): Promise<void> {
  const request: DeliveryRequest = {
    ...event,
    at,
    referenceId: purchase.input.referenceId,
    orderId: purchase.orderId,
  };
  const { deliverEvent } = proxyActivities<Activities>(delivering(purchase.settings));
  const keys = (event.lines ?? []).reduce((total, line) => total + line.fingerprints.length, 0);
  const summary = keys > 0 ? `${event.type}, keys: ${keys}` : event.type;
  const receipt = await deliverEvent.executeWithOptions({ summary }, [request]);
  if (!isReceipt(receipt)) throw new Error('the delivery was completed by hand, without a receipt');
  purchase.told(receipt.eventId, request);
}
