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
import { FAILURE, pauseOf } from '../contracts/failures';
import { summaryOf } from '../domain/texts';
import { endsPolling } from '../domain/order';
import { isPolledOrder } from './guards';
import { firstPollOptions, pollingOptions, singlePollOptions } from './policies';
import { boundedPause, firstStart, type PurchaseRecord } from './purchase-record';

const local = proxyLocalActivities<Activities>(firstPollOptions);

/** An order that could not be read, and why. `isTooLarge`: it is larger than PARTNER_MAX_BODY, which only an operator can change. */
export interface Unread {
  orderId: string;
  why: string;
  isTooLarge: boolean;
}

/**
 * Notes the order, waits until it has ended or the deadline has passed, and polls it once more then. The pause between polls is the
 * retry policy of `awaitOrderChange` (`pollingOptions`). If an operator ends that activity early, it only starts again.
 *
 * @returns the order as it was seen last, or why it could not be read at the deadline.
 */
export async function awaitOrder(
  purchase: PurchaseRecord,
  { orderId, adopted }: { orderId: string; adopted: boolean },
): Promise<PolledOrder | Unread> {
  const { pollIntervalMs, deadlineMs, firstPollMs } = purchase.settings;
  purchase.orderId = orderId;
  const deadline = Date.now() + deadlineMs;
  const isLocal = !adopted && firstPollMs < pollIntervalMs && firstPollMs < deadlineMs;
  const first = isLocal ? await pollFirst(purchase, orderId, deadline) : { nextPollMs: firstPollMs };
  if ('ended' in first) return first.ended;

  purchase.showWaiting(deadline);
  let { nextPollMs } = first;
  while (Date.now() < deadline) {
    const order = await pollUntilEnded(purchase, orderId, { nextPollMs: boundedPause(nextPollMs, deadline), deadline });
    if ('why' in order ? order.isTooLarge : endsPolling(order.status)) return order;
    if (deadline - Date.now() <= pollIntervalMs) break;
    nextPollMs = pollIntervalMs;
  }
  const left = deadline - Date.now();
  if (left > 0) await sleep(left, { summary: 'then the last poll' });
  return pollOnce(purchase, orderId);
}

/** The first poll, as a local activity: most orders are complete by then, and need no activity of the server. */
async function pollFirst(
  purchase: PurchaseRecord,
  orderId: string,
  deadline: number,
): Promise<{ ended: PolledOrder | Unread } | { nextPollMs: number }> {
  const { firstPollMs, pollIntervalMs } = purchase.settings;
  const pause = boundedPause(firstPollMs, deadline);
  if (pause > 0) {
    purchase.showWaiting(deadline);
    await sleep(pause, { summary: 'then the first poll' });
  }
  try {
    const summary = summaryOf(`first poll of ${orderId}`);
    const order = await local.pollOrder.executeWithOptions({ summary }, [requestOf(purchase, orderId)]);
    purchase.notePoll(order.status);
    return endsPolling(order.status) ? { ended: order } : { nextPollMs: pollIntervalMs };
  } catch (failure) {
    if (!(failure instanceof TemporalFailure)) throw failure;
    const unread = unreadAfter(orderId, failure);
    return unread.isTooLarge ? { ended: unread } : { nextPollMs: pauseAfter(failure, pollIntervalMs) };
  }
}

/** A local activity fails without an ActivityFailure around it. If the partner was not asked, the next poll is the first. */
function pauseAfter(failure: TemporalFailure, pollIntervalMs: number): number {
  if (!(failure instanceof ApplicationFailure)) return pollIntervalMs;
  if (failure.type === FAILURE.rateLimited || failure.type === FAILURE.notLocally) return 0;
  return Math.max(pollIntervalMs, pauseOf(failure));
}

async function pollUntilEnded(
  purchase: PurchaseRecord,
  orderId: string,
  { nextPollMs: firstDelayMs, deadline }: { nextPollMs: number; deadline: number },
): Promise<PolledOrder | Unread> {
  const { settings } = purchase;
  const { pollIntervalMs: intervalMs, watch } = settings;
  const { awaitOrderChange } = proxyActivities<Activities>(pollingOptions(settings, deadline - Date.now()));
  const request = { ...requestOf(purchase, orderId), firstDelayMs, intervalMs, watch, since: firstStart() };
  const summary = summaryOf(`polls until it has ended: ${orderId}`);
  return polledOrder(purchase, orderId, awaitOrderChange.executeWithOptions({ summary }, [request]));
}

/** One poll, at the deadline and before another review. */
export async function pollOnce(purchase: PurchaseRecord, orderId: string): Promise<PolledOrder | Unread> {
  const { pollOrder } = proxyActivities<Activities>(singlePollOptions(purchase.settings));
  const summary = summaryOf(`one poll of ${orderId}`);
  return polledOrder(purchase, orderId, pollOrder.executeWithOptions({ summary }, [requestOf(purchase, orderId)]));
}

/** What a poll has shown, or why it has shown nothing. */
async function polledOrder(
  purchase: PurchaseRecord,
  orderId: string,
  poll: Promise<unknown>,
): Promise<PolledOrder | Unread> {
  try {
    const answer = await poll;
    if (!isPolledOrder(orderId, answer)) return { orderId, why: 'an operator ended the poll', isTooLarge: false };
    purchase.notePoll(answer.status);
    return answer;
  } catch (failure) {
    return unreadAfter(orderId, failure);
  }
}

/** @param failure also one of a local activity, without an ActivityFailure around it */
function unreadAfter(orderId: string, failure: unknown): Unread {
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  if (!(cause instanceof ApplicationFailure)) return { orderId, why: 'no poll ended in time', isTooLarge: false };
  return { orderId, why: cause.message, isTooLarge: cause.type === FAILURE.orderTooLarge };
}

function requestOf({ input, fingerprintSecretId }: PurchaseRecord, orderId: string): PollOrderInput {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const productIds = input.items.map(({ productId }) => productId);
  return { orderId, referenceId: input.referenceId, firstRunId, fingerprintSecretId, productIds };
}
