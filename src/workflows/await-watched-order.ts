import { proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { summaryOf } from '../domain/markdown';
import { endsPolling } from '../domain/order';
import { isOrderSnapshot } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import { firstPollOptions, pollingOptions, WATCH_INTERVALS } from './policies';
import type { PurchaseRecord } from './purchase-record';

const local = proxyLocalActivities<Activities>(firstPollOptions);

/** When an order may be polled next, in ms from now. `isOpen`: a poll has shown that it is open. */
export interface NextPoll {
  nextPollMs: number;
  isOpen: boolean;
}

/**
 * Waits until an order has ended or the deadline has come, with `PURCHASE_WATCH=history`: the watcher says when it may have
 * ended, and then it is polled, for a row of the order history proves nothing. It is polled all the same after
 * `WATCH_INTERVALS`, whether or not there is a watcher: in the workflow task that the timer begins, because most of these find
 * nothing. However often it is woken, polls come no closer than the interval.
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
    let isRoutine = false;
    if (isOpen) {
      purchase.showWatched();
      const longest = boundedPause(WATCH_INTERVALS * pollIntervalMs, deadline);
      const isWoken = await purchase.orderChanges.of(request.orderId, Math.min(longest, left()));
      isRoutine = !isWoken && !request.afterFailedPoll;
    }
    const pause = Math.min(boundedPause(notBefore - Date.now(), deadline), left());
    if (pause > 0) await sleep(pause, { summary: 'then a poll' });
    if (left() <= 0) break;
    purchase.orderChanges.forget();
    const order = isRoutine ? await pollRoutinely(purchase, request) : await pollWatched(purchase, request, left());
    if (order && endsPolling(order.status)) return order;
    isOpen = order !== undefined;
    notBefore = Date.now() + pollIntervalMs;
  }
  return undefined;
}

/** One poll, which is tried again an interval later if it fails. @returns undefined when it ended without an answer. */
async function pollWatched(
  purchase: PurchaseRecord,
  request: GetOrderInput,
  remainingMs: number,
): Promise<PolledOrder | undefined> {
  const { getOrder } = proxyActivities<Activities>(pollingOptions(purchase.settings, remainingMs));
  const summary = summaryOf(`one poll of ${request.orderId}`);
  const order = await getOrder.executeWithOptions({ summary }, [request]).catch(() => undefined);
  if (!isOrderSnapshot(request.orderId, order)) return undefined;
  purchase.notePoll(order.status);
  return order;
}

/**
 * The poll that nobody asked for. What it brings up goes out by an ordinary activity: it bears no instant, so no delivery of it is
 * local.
 *
 * @returns undefined when it ended without an answer; an ordinary poll follows an interval later.
 */
async function pollRoutinely(purchase: PurchaseRecord, request: GetOrderInput): Promise<PolledOrder | undefined> {
  const summary = summaryOf(`one poll of ${request.orderId}`);
  const order = await local.getOrder.executeWithOptions({ summary }, [request]).catch(() => undefined);
  if (order) purchase.notePoll(order.status);
  return order && { ...order, polledAt: undefined };
}
