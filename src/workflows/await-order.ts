import { log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities, PolledOrder } from '../contracts/activities';
import { endsPolling } from '../domain/order';
import { isOrderSnapshot } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import { pollingOptions, singleReadOptions } from './policies';
import type { PurchaseRecord } from './purchase-record';

/** The status of an order before its first poll: just placed. */
export const JUST_PLACED = 'PENDING';
/** No status at all: the first poll ends the activity, whatever it sees. */
export const NEVER_POLLED = '';

/**
 * Waits until the order has ended or the deadline has passed, and reads it once more then.
 *
 * The pause between polls is not a timer: it is the retry policy of `awaitOrderChange`, see `pollingOptions` in policies.ts.
 * Whatever ends that activity early (an operator, an answer that can't be used) only makes it start again; at the deadline
 * its failure has several shapes, and all of them mean: read it once more.
 *
 * @param known the status that polling begins with.
 * @returns the order as it was seen last; undefined if at the deadline the partner could not be asked.
 */
export async function awaitOrder(
  purchase: PurchaseRecord,
  orderId: string,
  known: string,
): Promise<PolledOrder | undefined> {
  const { settings } = purchase;
  const deadline = Date.now() + settings.deadlineMs;
  let status = known;
  let firstDelayMs = settings.firstPollMs;

  while (Date.now() < deadline) {
    const delay = boundedPause(firstDelayMs, deadline);
    const order = await pollUntilChanged(purchase, { orderId, status, firstDelayMs: delay, deadline });
    if (order) {
      if (endsPolling(order.status)) return order;
      if (status === 'PROCESSING' && order.status === 'PENDING')
        log.warn('the order went back', { orderId, from: status, to: order.status });
      status = order.status;
      purchase.show(status, `order ${orderId} at the partner`);
    } else if (deadline - Date.now() <= settings.pollIntervalMs) {
      break;
    }
    firstDelayMs = settings.pollIntervalMs;
  }
  const left = deadline - Date.now();
  if (left > 0) await sleep(left);
  return readOrder(purchase, orderId);
}

/** @returns the order with another status than the known one, or undefined when the activity ended without an answer. */
async function pollUntilChanged(
  { settings, input }: PurchaseRecord,
  polling: { orderId: string; status: string; firstDelayMs: number; deadline: number },
): Promise<PolledOrder | undefined> {
  const { orderId, status, firstDelayMs, deadline } = polling;
  const { awaitOrderChange } = proxyActivities<Activities>(pollingOptions(settings, deadline - Date.now()));
  const summary =
    status === NEVER_POLLED ? `${orderId}: polling` : `${orderId}: polling until it is no longer ${status}`;
  const request = {
    orderId,
    referenceId: input.referenceId,
    known: status,
    firstDelayMs,
    intervalMs: settings.pollIntervalMs,
    firstRunId: workflowInfo().firstExecutionRunId,
  };
  const order = await awaitOrderChange.executeWithOptions({ summary }, [request]).catch(() => undefined);
  return isOrderSnapshot(orderId, order) ? order : undefined;
}

/** One short read, at the deadline and after operators' decisions. @returns undefined if the partner could not be asked. */
export async function readOrder(purchase: PurchaseRecord, orderId: string): Promise<PolledOrder | undefined> {
  const { getOrder } = proxyActivities<Activities>(singleReadOptions(purchase.settings));
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const request = { orderId, referenceId: purchase.input.referenceId, firstRunId };
  const order = await getOrder
    .executeWithOptions({ summary: `${orderId}: one poll` }, [request])
    .catch(() => undefined);
  return isOrderSnapshot(orderId, order) ? order : undefined;
}
