import { proxyActivities } from '@temporalio/workflow';
import type { Activities, DeliveryReceipt, DeliveryRequest } from '../contracts/activities';
import { delivering } from './policies';
import type { PurchaseRecord } from './purchase-record';

/**
 * Tells the checkout one event of this purchase, for a day if need be.
 *
 * @throws ActivityFailure when it was refused for good, or tried for a day.
 */
export async function tell(
  purchase: PurchaseRecord,
  event: Omit<DeliveryRequest, 'referenceId' | 'orderId' | 'at'>,
): Promise<void> {
  const request: DeliveryRequest = {
    ...event,
    at: new Date().toISOString(),
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

/** A person can complete a pending activity with anything; only a real receipt counts as delivered. */
function isReceipt(value: unknown): value is DeliveryReceipt {
  const { eventId } = (value ?? {}) as Partial<DeliveryReceipt>;
  return typeof eventId === 'string' && eventId.startsWith('evt_');
}
