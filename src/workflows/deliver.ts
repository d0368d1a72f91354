import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities, DeliveryReceipt, DeliveryRequest } from '../contracts/activities';
import { REFERENCE_ID } from '../contracts/search-attributes';
import { delivering, recorded } from './policies';

/**
 * Delivers one event of a purchase that has ended: keys that came late, or the same event again. Its workflow id is made
 * of the event's id, so two of them can't deliver one event at once.
 *
 * @returns the event's id, when the checkout has it. It fails when it was refused for good or tried for a day.
 */
export async function deliverWorkflow(request: DeliveryRequest): Promise<DeliveryReceipt> {
  if (typeof request?.type !== 'string' || typeof request.referenceId !== 'string') {
    throw ApplicationFailure.nonRetryable('expected one argument, the event to deliver', 'InvalidDelivery');
  }
  upsertSearchAttributes([{ key: REFERENCE_ID, value: request.referenceId }]);
  const { readSettings } = proxyLocalActivities<Activities>(recorded);
  const { settings } = await readSettings();
  const { deliverEvent } = proxyActivities<Activities>(delivering(settings));
  return deliverEvent.executeWithOptions({ summary: request.type }, [request]);
}
