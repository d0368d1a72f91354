import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { firstPollAt } from '../contracts/purchase';
import { summaryOf } from '../domain/markdown';
import { endsPolling } from '../domain/order';
import { isOrderSnapshot } from './activity-result-guards';
import { awaitWatchedOrder, type NextPoll } from './await-watched-order';
import { boundedPause } from './bounded-pause';
import type { PlacedOrder } from './placement-step';
import { firstPollOptions, pollingOptions, singleReadOptions } from './policies';
import type { PurchaseRecord } from './purchase-record';

const local = proxyLocalActivities<Activities>(firstPollOptions);

/** The order that is waited for. `placedAt`: when our own request was answered; absent of an order that was found or named. */
type AwaitedOrder = Pick<PlacedOrder, 'orderId' | 'placedAt'>;

/**
 * Notes the order, waits until it has ended or the deadline has passed, and reads it once more then.
 *
 * An order that was just placed is polled in the very workflow task that learns of it, or after `PURCHASE_FIRST_POLL`. Then the
 * pause between polls is not a timer: it is the retry policy of `awaitOrderChange`, see `pollingOptions` in policies.ts.
 * Whatever ends that activity early (an operator, an answer that can't be used) only makes it start again; at the deadline
 * its failure has several shapes, and all of them mean: read it once more.
 *
 * @returns the order as it was seen last; undefined if at the deadline the partner could not be asked.
 */
export async function awaitOrder(purchase: PurchaseRecord, awaited: AwaitedOrder): Promise<PolledOrder | undefined> {
  const { settings } = purchase;
  purchase.noteOrder(awaited.orderId);
  const deadline = Date.now() + settings.deadlineMs;
  const first = await pollFirst(purchase, awaited, deadline);
  if (first.ended) return first.ended;
  const { afterFailedPoll } = first;
  let { nextPollMs } = first;

  purchase.showWaiting(deadline);
  if (settings.watch === 'history') {
    const request = { ...watchedRequestOf(purchase, awaited.orderId), afterFailedPoll };
    const ended = await awaitWatchedOrder(purchase, request, { first, deadline });
    return ended ?? readOrder(purchase, awaited.orderId, afterFailedPoll);
  }
  while (Date.now() < deadline) {
    const firstDelayMs = boundedPause(nextPollMs, deadline);
    const order = await pollUntilEnded(purchase, { ...awaited, firstDelayMs, deadline, afterFailedPoll });
    if (order && endsPolling(order.status)) return order;
    if (deadline - Date.now() <= settings.pollIntervalMs) break;
    nextPollMs = settings.pollIntervalMs;
  }
  const left = deadline - Date.now();
  if (left > 0) await sleep(left, { summary: 'then the last poll' });
  return readOrder(purchase, awaited.orderId, afterFailedPoll);
}

/** What the first poll has come to: the order has ended, or it is polled again, not before so many milliseconds. */
type FirstPoll = { ended: PolledOrder } | (NextPoll & AfterFirstPoll & { ended?: undefined });

type AfterFirstPoll = Pick<GetOrderInput, 'afterFailedPoll'>;

/**
 * The first poll, as a local activity: most orders are complete by then, and need no activity of the server for it. Where the first
 * poll is due no sooner than the interval, and for an order that was adopted, it is left to the ordinary one.
 */
async function pollFirst(
  purchase: PurchaseRecord,
  { orderId, placedAt }: AwaitedOrder,
  deadline: number,
): Promise<FirstPoll> {
  const { firstPollMs, pollIntervalMs } = purchase.settings;
  const pause = boundedPause(firstPollMs, deadline);
  const isDueBefore = firstPollMs < pollIntervalMs && Date.now() + pause < deadline;
  if (placedAt === undefined || !isDueBefore) return { nextPollMs: firstPollMs, isOpen: false };
  if (pause > 0) {
    purchase.showWaiting(deadline);
    await sleep(pause, { summary: 'then the first poll' });
  }
  try {
    const summary = summaryOf(`first poll of ${orderId}`);
    const order = await local.getOrder.executeWithOptions({ summary }, [watchedRequestOf(purchase, orderId)]);
    purchase.notePoll(order.status);
    if (!endsPolling(order.status)) return { nextPollMs: pollIntervalMs, isOpen: true };
    return { ended: { ...order, polledAt: firstPollAt(placedAt, purchase.settings) } };
  } catch (failure) {
    if (!(failure instanceof TemporalFailure)) throw failure;
    return { nextPollMs: wasNotAsked(failure) ? 0 : pollIntervalMs, isOpen: false, afterFailedPoll: true };
  }
}

/** Whether the partner was not asked, so that the next poll is the first. No ActivityFailure is around that of a local activity. */
function wasNotAsked(failure: unknown): boolean {
  if (!(failure instanceof ApplicationFailure)) return false;
  return failure.type === FAILURE.rateLimited || failure.type === FAILURE.laterRun;
}

/** @returns undefined when the activity ended without an answer. */
async function pollUntilEnded(
  purchase: PurchaseRecord,
  polling: AwaitedOrder & AfterFirstPoll & { firstDelayMs: number; deadline: number },
): Promise<PolledOrder | undefined> {
  const { settings } = purchase;
  const { orderId, firstDelayMs, deadline, afterFailedPoll } = polling;
  const { awaitOrderChange } = proxyActivities<Activities>(pollingOptions(settings, deadline - Date.now()));
  const request = {
    ...requestOf(purchase, orderId),
    afterFailedPoll,
    firstDelayMs,
    intervalMs: settings.pollIntervalMs,
  };
  const summary = summaryOf(`polls until it has ended: ${orderId}`);
  const order = await awaitOrderChange.executeWithOptions({ summary }, [request]).catch(() => undefined);
  return polledOrder(purchase, orderId, order);
}

/** One short read, at the deadline and after operators' decisions. @returns undefined if the partner could not be asked. */
export async function readOrder(
  purchase: PurchaseRecord,
  orderId: string,
  afterFailedPoll?: boolean,
): Promise<PolledOrder | undefined> {
  const { getOrder } = proxyActivities<Activities>(singleReadOptions(purchase.settings));
  const order = await getOrder
    .executeWithOptions({ summary: summaryOf(`one poll of ${orderId}`) }, [
      { ...requestOf(purchase, orderId), afterFailedPoll },
    ])
    .catch(() => undefined);
  return polledOrder(purchase, orderId, order);
}

/** What a poll has shown. @returns undefined when it ended without an answer, or an operator completed it with another. */
function polledOrder(purchase: PurchaseRecord, orderId: string, answer: unknown): PolledOrder | undefined {
  if (!isOrderSnapshot(orderId, answer)) return undefined;
  purchase.notePoll(answer.status);
  return answer;
}

function requestOf({ input, fingerprintSecretId }: PurchaseRecord, orderId: string): GetOrderInput {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  return { orderId, referenceId: input.referenceId, firstRunId, fingerprintSecretId };
}

/** The same, and its poll makes sure of the watcher, if that is what the purchase waits for. */
function watchedRequestOf(purchase: PurchaseRecord, orderId: string): GetOrderInput {
  const { watch, pollIntervalMs } = purchase.settings;
  const watched = watch === 'history' ? { intervalMs: pollIntervalMs } : undefined;
  return { ...requestOf(purchase, orderId), watched };
}
