import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf } from '../contracts/checkout-events';
import { isDeliveryReceipt } from './activity-result-guards';
import { deliveryOptions } from './policies';
import type { PurchaseRecord } from './purchase-record';

/**
 * Sends one event of this purchase to the checkout, for a day if need be.
 *
 * @throws ActivityFailure when it was refused for good, or tried for a day; Error when an operator completed it without a
 *   receipt.
 */
export async function sendEvent(purchase: PurchaseRecord, event: DeliveryRequest): Promise<void> {
  const { deliverEvent } = proxyActivities<Activities>(deliveryOptions(purchase.settings));
  const keys = fingerprintsOf(event).length;
  const summary = keys > 0 ? `${event.type}, keys: ${keys}` : event.type;
  const receipt = await deliverEvent.executeWithOptions({ summary }, [event]);
  if (!isDeliveryReceipt(receipt)) throw new Error('the delivery was completed by an operator, without a receipt');
  purchase.noteReceived({ id: receipt.eventId, type: event.type, at: event.at });
}
