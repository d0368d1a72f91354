import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities, DeliveryReport, OverduePurchase } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf, lateDelivery } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import type { PurchaseSettings, ReceivedEvent } from '../contracts/purchase';
import { REFERENCE_ID } from '../contracts/search-attributes';
import { newKeysOf } from '../domain/late-keys';
import { isOrderSnapshot } from './activity-result-guards';
import { localOptions, singleReadOptions } from './policies';
import { sendEvent } from './send-event';
import { validateDelivery } from './validate-input';

/**
 * Delivers what comes after a purchase has ended: keys that came late, or the same event again. Its workflow id is made
 * of the event's id, so two of them can't deliver one event at once.
 *
 * @param request the event, as it was or is to be delivered.
 * @param overdue with an overdue purchase: its order is polled first, and the keys that came since are delivered
 *   instead. Late deliveries of before are repeated as they were.
 * @returns what the checkout has received. It fails when that was refused for good or tried for a day, and
 *   with `InvalidDelivery` when it was started with what is no event.
 */
export async function deliverWorkflow(request: DeliveryRequest, overdue?: OverduePurchase): Promise<DeliveryReport> {
  validateDelivery(request, overdue);
  upsertSearchAttributes([{ key: REFERENCE_ID, value: request.referenceId }]);
  const { settings } = await proxyLocalActivities<Activities>(localOptions).readSettings();

  const { requests, order } = await eventsToDeliver(request, overdue, settings);
  const events: ReceivedEvent[] = [];
  for (const event of requests) events.push(await sendEvent(settings, event));
  upsertMemo({ events });
  return { eventId: events.at(-1)?.id ?? '', events, order };
}

async function eventsToDeliver(
  request: DeliveryRequest,
  overdue: OverduePurchase | undefined,
  settings: PurchaseSettings,
): Promise<{ requests: DeliveryRequest[]; order?: DeliveryReport['order'] }> {
  const { referenceId } = request;
  const orderId = 'orderId' in request ? request.orderId : undefined;
  if (!overdue || orderId === undefined) return { requests: [request] };
  const { getOrder } = proxyActivities<Activities>(singleReadOptions(settings));
  const order = await getOrder.executeWithOptions({ summary: `${orderId}: one poll` }, [{ orderId, referenceId }]);
  if (!isOrderSnapshot(orderId, order)) {
    const why = 'the read of the order was completed by an operator, without the order';
    throw ApplicationFailure.nonRetryable(why, FAILURE.invalidDelivery);
  }
  const { status, totalDebit } = order;

  const { lines, issue } = newKeysOf(overdue.items, order, overdue.earlier.flatMap(fingerprintsOf));
  const at = new Date().toISOString();
  const late = lines.length > 0 ? [lateDelivery({ at, referenceId, orderId, lines, totalDebit })] : [];
  const requests = [...overdue.earlier, ...late];
  return { requests: requests.length > 0 ? requests : [request], order: { id: orderId, status, issue } };
}
