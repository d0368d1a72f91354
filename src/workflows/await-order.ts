import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, PolledOrder, PollOrderInput } from '../contracts/activities';
import { FAILURE, retryDelayOf } from '../contracts/failures';
import { summaryOf, withoutErrorCode } from '../domain/text-format';
import { canStopPolling } from '../domain/order';
import { isPolledOrder } from './guards';
import { firstPollOptions, pollingOptions, singlePollOptions } from './policies';
import { firstStartTime, type PurchaseRecord, boundedHistoryDelayMs } from './purchase-record';

const local = proxyLocalActivities<Activities>(firstPollOptions);

/** An order that could not be read, and the reason. `isTooLarge`: the response exceeds PARTNER_MAX_BODY. */
export interface UnreadableOrder {
  orderId: string;
  reason: string;
  isTooLarge: boolean;
}

export function isUnreadableOrder(order: PolledOrder | UnreadableOrder): order is UnreadableOrder {
  return 'reason' in order;
}

/**
 * Waits until the order has ended. If it is still open at the deadline, it is polled once more. The delay between polls
 * is the retry policy of `pollUntilEnded` (`pollingOptions`). If an operator ends that activity, it starts again.
 *
 * @param firstPoll `local` for a new order, which will probably end soon; `scheduled` for an adopted or held order.
 * @returns the order as last seen, or why it could not be read at the deadline.
 */
export async function awaitOrder(
  purchase: PurchaseRecord,
  orderId: string,
  firstPoll: 'local' | 'scheduled',
): Promise<PolledOrder | UnreadableOrder> {
  const { pollIntervalMs, deadlineMs, firstPollMs } = purchase.settings;
  purchase.orderId = orderId;
  const deadline = Date.now() + deadlineMs;
  const isLocal = firstPoll === 'local' && firstPollMs < pollIntervalMs && firstPollMs < deadlineMs;
  const first = isLocal ? await pollFirst(purchase, orderId, deadline) : { nextPollMs: firstPollMs };
  if ('ended' in first) return first.ended;

  purchase.showPending(deadline);
  let { nextPollMs } = first;
  while (Date.now() < deadline) {
    const order = await awaitEnd(purchase, orderId, {
      nextPollMs: boundedHistoryDelayMs(nextPollMs, deadline),
      deadline,
    });
    if (isUnreadableOrder(order) ? order.isTooLarge : canStopPolling(order.status)) return order;
    if (deadline - Date.now() <= pollIntervalMs) break;
    nextPollMs = pollIntervalMs;
  }
  const left = deadline - Date.now();
  if (left > 0) await sleep(left, { summary: 'before the last poll' });
  return pollOnce(purchase, orderId);
}

/** The first poll is a local activity: most orders are complete by then and need no scheduled activity. */
async function pollFirst(
  purchase: PurchaseRecord,
  orderId: string,
  deadline: number,
): Promise<{ ended: PolledOrder | UnreadableOrder } | { nextPollMs: number }> {
  const { firstPollMs, pollIntervalMs } = purchase.settings;
  const delay = boundedHistoryDelayMs(firstPollMs, deadline);
  if (delay > 0) {
    purchase.showPending(deadline);
    await sleep(delay, { summary: 'before the first poll' });
  }
  try {
    const summary = summaryOf(`first poll of ${orderId}`);
    const order = await local.pollOrder.executeWithOptions({ summary }, [requestOf(purchase, orderId)]);
    purchase.notePoll(order.status);
    return canStopPolling(order.status) ? { ended: order } : { nextPollMs: pollIntervalMs };
  } catch (failure) {
    if (!(failure instanceof TemporalFailure)) throw failure;
    const unreadable = unreadableAfter(orderId, failure);
    return unreadable.isTooLarge ? { ended: unreadable } : { nextPollMs: delayAfter(failure, pollIntervalMs) };
  }
}

/** How long to wait after a failed local poll, in ms. If it sent no request, the next poll may follow at once. */
function delayAfter(failure: TemporalFailure, pollIntervalMs: number): number {
  if (!(failure instanceof ApplicationFailure)) return pollIntervalMs;
  if (failure.type === FAILURE.rateLimited || failure.type === FAILURE.notLocally) return 0;
  return Math.max(pollIntervalMs, retryDelayOf(failure));
}

async function awaitEnd(
  purchase: PurchaseRecord,
  orderId: string,
  { nextPollMs: firstDelayMs, deadline }: { nextPollMs: number; deadline: number },
): Promise<PolledOrder | UnreadableOrder> {
  const { settings } = purchase;
  const { pollIntervalMs: intervalMs, watch } = settings;
  const { pollUntilEnded } = proxyActivities<Activities>(pollingOptions(settings, deadline - Date.now()));
  const request = {
    ...requestOf(purchase, orderId),
    firstDelayMs,
    intervalMs,
    watch,
    purchaseStartedAt: firstStartTime(),
  };
  const summary = summaryOf(`poll until the order has ended: ${orderId}`);
  return orderFromPoll(purchase, orderId, pollUntilEnded.executeWithOptions({ summary }, [request]));
}

/** A single poll, used at the deadline and before another review. */
export async function pollOnce(purchase: PurchaseRecord, orderId: string): Promise<PolledOrder | UnreadableOrder> {
  const { pollOrder } = proxyActivities<Activities>(singlePollOptions(purchase.settings));
  const summary = summaryOf(`single poll of ${orderId}`);
  return orderFromPoll(purchase, orderId, pollOrder.executeWithOptions({ summary }, [requestOf(purchase, orderId)]));
}

/**
 * Waits for a poll.
 * @returns the order, or the reason why it could not be read
 */
async function orderFromPoll(
  purchase: PurchaseRecord,
  orderId: string,
  poll: Promise<unknown>,
): Promise<PolledOrder | UnreadableOrder> {
  try {
    const order = await poll;
    if (!isPolledOrder(orderId, order)) return { orderId, reason: 'an operator ended the poll', isTooLarge: false };
    purchase.notePoll(order.status);
    return order;
  } catch (failure) {
    return unreadableAfter(orderId, failure);
  }
}

/** @param failure for a local activity it is not wrapped in an ActivityFailure */
function unreadableAfter(orderId: string, failure: unknown): UnreadableOrder {
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  if (!(cause instanceof ApplicationFailure)) return { orderId, reason: 'no poll finished in time', isTooLarge: false };
  return { orderId, reason: withoutErrorCode(cause.message), isTooLarge: cause.type === FAILURE.orderTooLarge };
}

function requestOf(
  { input, fingerprintSecretId, mayHaveEarlierExecution }: PurchaseRecord,
  orderId: string,
): PollOrderInput {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const productIds = input.items.map(({ productId }) => productId);
  return {
    orderId,
    referenceId: input.referenceId,
    firstRunId,
    mayHaveEarlierExecution,
    fingerprintSecretId,
    productIds,
  };
}
