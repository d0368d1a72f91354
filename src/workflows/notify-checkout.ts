import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf } from '../contracts/checkout-events';
import { isReceipt } from './activity-result-guards';
import { delivering } from './policies';
import type { PurchaseRecord } from './purchase-record';

/**
 * Tells the checkout one event of this purchase, for a day if need be.
 *
 * @throws ActivityFailure when it was refused for good, or tried for a day.
 */
export async function tell(purchase: PurchaseRecord, request: DeliveryRequest): Promise<void> {
  const { deliverEvent } = proxyActivities<Activities>(delivering(purchase.settings));
  const keys = fingerprintsOf(request).length;
  const summary = keys > 0 ? `${request.type}, keys: ${keys}` : request.type;
  const receipt = await deliverEvent.executeWithOptions({ summary }, [request]);
  if (!isReceipt(receipt)) throw new Error('the delivery was completed by hand, without a receipt');
  purchase.told(receipt.eventId, request);
}
