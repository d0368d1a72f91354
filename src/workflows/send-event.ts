import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import {
  type DeliveryRequest,
  fingerprintsOf,
  isDeliveryReceipt,
  type RefusedDelivery,
} from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import type { PurchaseSettings, ReceivedEvent } from '../contracts/purchase';
import { deliveryOptions, firstDeliveryOptions } from './policies';

const local = proxyLocalActivities<Activities>(firstDeliveryOptions);

/**
 * Sends one event to the checkout in this very workflow task: one attempt. Should the task be repeated, it may be received a
 * second time, so it must follow from what is on record.
 *
 * @returns what the checkout has received, or why it can't be delivered; undefined where it is to be sent by {@link sendEvent}.
 */
export async function sendEventAtOnce(event: DeliveryRequest): Promise<ReceivedEvent | RefusedDelivery | undefined> {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  try {
    const result = await local.deliverEvent.executeWithOptions({ summary: summaryOf(event) }, [event, { firstRunId }]);
    return 'refused' in result ? result : { id: result.eventId, type: event.type, at: event.at };
  } catch (failure) {
    // That of a local activity stands for itself; no ActivityFailure is around it.
    if (!(failure instanceof TemporalFailure)) throw failure;
    return undefined;
  }
}

/**
 * Sends one event to the checkout, for a day if need be.
 *
 * @returns what the checkout has received.
 * @throws ActivityFailure when it was refused for good, or tried for a day; ApplicationFailure `InvalidDelivery` when an
 *   operator completed it without a receipt.
 */
export async function sendEvent(settings: PurchaseSettings, event: DeliveryRequest): Promise<ReceivedEvent> {
  const { deliverEvent } = proxyActivities<Activities>(deliveryOptions(settings));
  const receipt = await deliverEvent.executeWithOptions({ summary: summaryOf(event) }, [event]);
  if (!isDeliveryReceipt(receipt)) {
    const why = 'the delivery was completed by an operator, without a receipt';
    throw ApplicationFailure.nonRetryable(why, FAILURE.invalidDelivery);
  }
  return { id: receipt.eventId, type: event.type, at: event.at };
}

function summaryOf(event: DeliveryRequest): string {
  const keys = fingerprintsOf(event).length;
  return keys > 0 ? `${event.type}, keys: ${keys}` : event.type;
}
