import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import type { PurchaseSettings, ReceivedEvent } from '../contracts/purchase';
import { isDeliveryReceipt } from './activity-result-guards';
import { deliveryOptions } from './policies';

/**
 * Sends one event to the checkout, for a day if need be.
 *
 * @returns what the checkout has received.
 * @throws ActivityFailure when it was refused for good, or tried for a day; ApplicationFailure `InvalidDelivery` when an
 *   operator completed it without a receipt.
 */
export async function sendEvent(settings: PurchaseSettings, event: DeliveryRequest): Promise<ReceivedEvent> {
  const { deliverEvent } = proxyActivities<Activities>(deliveryOptions(settings));
  const keys = fingerprintsOf(event).length;
  const summary = keys > 0 ? `${event.type}, keys: ${keys}` : event.type;
  const receipt = await deliverEvent.executeWithOptions({ summary }, [event]);
  if (!isDeliveryReceipt(receipt)) {
    const why = 'the delivery was completed by an operator, without a receipt';
    throw ApplicationFailure.nonRetryable(why, FAILURE.invalidDelivery);
  }
  return { id: receipt.eventId, type: event.type, at: event.at };
}
