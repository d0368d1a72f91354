import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { endsPolling } from '../domain/order';
import { isOrderSnapshot } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import { pollingOptions, WATCH_INTERVALS } from './policies';
import type { PurchaseRecord } from './purchase-record';

/** When an order may be polled next, in ms from now. `isOpen`: a poll has shown that it is open. */
export interface NextPoll {
  nextPollMs: number;
  isOpen: boolean;
}

/**
 * Waits until an order has ended or the deadline has come, with `PURCHASE_WATCH=history`: the watcher says when it may have
 * ended, and then it is polled, for a row of the order history proves nothing. It is polled all the same after
 * `WATCH_INTERVALS`, whether or not there is a watcher. However often it is woken, polls come no closer than the interval.
 *
 * @param deadline epoch ms.
 * @returns the order once it has ended; undefined when the deadline has come.
 */
export async function awaitWatchedOrder(
  purchase: PurchaseRecord,
  request: GetOrderInput,
  { first, deadline }: { first: NextPoll; deadline: number },
): Promise<PolledOrder | undefined> {
  const { pollIntervalMs } = purchase.settings;
  const left = () => deadline - Date.now();
  let { isOpen } = first;
  let notBefore = Date.now() + first.nextPollMs;

  while (left() > 0) {
    if (isOpen) {
      purchase.showWatched();
      const longest = boundedPause(WATCH_INTERVALS * pollIntervalMs, deadline);
      await purchase.orderChanges.of(request.orderId, Math.min(longest, left()));
    }
    const pause = Math.min(boundedPause(notBefore - Date.now(), deadline), left());
    if (pause > 0) await sleep(pause);
    if (left() <= 0) break;
    const order = await pollWatched(purchase, request, left());
    if (order && endsPolling(order.status)) return order;
    isOpen = order !== undefined;
    notBefore = Date.now() + pollIntervalMs;
  }
  return undefined;
}

/** One poll, which is tried again an interval later if it fails. @returns undefined when it ended without an answer. */
async function pollWatched(
  { settings, orderChanges }: PurchaseRecord,
  request: GetOrderInput,
  remainingMs: number,
): Promise<PolledOrder | undefined> {
  const { getOrder } = proxyActivities<Activities>(pollingOptions(settings, remainingMs));
  const summary = `${request.orderId}: one poll`;
  orderChanges.forget();
  const order = await getOrder.executeWithOptions({ summary }, [request]).catch(() => undefined);
  return isOrderSnapshot(request.orderId, order) ? order : undefined;
}
