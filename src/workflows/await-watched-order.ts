import { CancellationScope, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { summaryOf } from '../domain/markdown';
import { endsPolling } from '../domain/order';
import { isOrderSnapshot } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import { POLLS_AFTER_WAKE, pollingOptions, WATCH_INTERVALS } from './policies';
import type { PurchaseRecord } from './purchase-record';

/** When an order may be polled next, in ms from now. `isOpen`: a poll has shown that it is open. */
export interface NextPoll {
  nextPollMs: number;
  isOpen: boolean;
}

/**
 * Waits until an order has ended or the deadline has come, with `PURCHASE_WATCH=history`: the watcher says when it may have
 * ended, and then it is polled, for a row of the order history proves nothing. One that is open all the same is polled
 * `POLLS_AFTER_WAKE` times more, an interval apart: the watcher wakes once for a row, and what answers polls may lag behind it.
 *
 * Whether or not there is a watcher, one activity polls the order every `WATCH_INTERVALS`: by its retry policy, so that a poll that
 * finds nothing costs no workflow task. However often the purchase is woken, polls come no closer than the interval: where it was
 * polled and is still open, that activity ends, and begins anew once no poll is due.
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
  let routine: RoutinePolls | undefined;
  let pollsDue = 0;

  while (left() > 0) {
    if (routine?.order) return routine.order;
    if (isOpen && pollsDue === 0) {
      purchase.showWatched();
      if (!routine || routine.hasEnded) routine = startRoutinePolls(purchase, request, deadline);
      const isWoken = await purchase.orderChanges.of(request.orderId, routine, left());
      if (!isWoken || routine?.order) continue;
      pollsDue = 1 + POLLS_AFTER_WAKE;
    }
    notBefore = Math.max(notBefore, (routine?.lastPollAt() ?? 0) + pollIntervalMs);
    const pause = Math.min(boundedPause(notBefore - Date.now(), deadline), left());
    if (pause > 0) await sleep(pause, { summary: 'then a poll' });
    if (routine?.order) return routine.order;
    if (left() <= 0) break;
    purchase.orderChanges.forget();
    const order = await pollWatched(purchase, request, left());
    if (order && endsPolling(order.status)) return order;
    const ended = await routine?.stop();
    if (ended) return ended;
    routine = undefined;
    isOpen = order !== undefined;
    if (isOpen && pollsDue > 0) pollsDue -= 1;
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

/** The polls that nobody asked for. */
interface RoutinePolls {
  /** The order, once such a poll has shown that it has ended. */
  order?: PolledOrder;
  /** Whether no further one comes: the order has ended, the deadline is near, or an operator ended the activity. */
  hasEnded: boolean;
  /** About when the last one was, epoch ms; 0 before the first. */
  lastPollAt(): number;
  /** @returns the order, if they have shown meanwhile that it has ended. */
  stop(): Promise<PolledOrder | undefined>;
}

/**
 * They go on until they are stopped or the purchase ends, also when its order has ended: that costs nothing.
 *
 * @returns undefined where the deadline comes before the first of them.
 */
function startRoutinePolls(
  purchase: PurchaseRecord,
  request: GetOrderInput,
  deadline: number,
): RoutinePolls | undefined {
  const startedAt = Date.now();
  const scope = new CancellationScope();
  const intervalMs = boundedPause(WATCH_INTERVALS * purchase.settings.pollIntervalMs, deadline);
  if (deadline - startedAt <= intervalMs) return undefined;
  const routine: RoutinePolls = {
    hasEnded: false,
    lastPollAt: () => {
      const polls = Math.floor((Date.now() - startedAt) / intervalMs);
      return polls > 0 ? startedAt + polls * intervalMs : 0;
    },
    stop: async () => {
      scope.cancel();
      await ended;
      return routine.order;
    },
  };
  const { awaitOrderChange } = proxyActivities<Activities>(pollingOptions(purchase.settings, deadline - startedAt));
  const summary = summaryOf(`polls of ${request.orderId} without the watcher`);
  const polls = { ...request, firstDelayMs: intervalMs, intervalMs };
  const ended = scope
    .run(() => awaitOrderChange.executeWithOptions({ summary }, [polls]))
    .catch(() => undefined)
    .then((order: unknown) => {
      routine.hasEnded = true;
      if (!isOrderSnapshot(request.orderId, order) || !endsPolling(order.status)) return;
      purchase.notePoll(order.status);
      routine.order = order;
    });
  return routine;
}
