import {
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

/**
 * Notes the order, waits until it has ended or the deadline has passed, and polls it once more then. The pause between polls is the
 * retry policy of `awaitOrderChange` (`pollingOptions`). If an operator ends that activity early, it only starts again.
 *
 * @returns the order as it was seen last; undefined if the partner could not be asked at the deadline.
 */
export async function awaitOrder(
  purchase: PurchaseRecord,
  { orderId, adopted }: { orderId: string; adopted: boolean },
): Promise<PolledOrder | undefined> {
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
    if (order && endsPolling(order.status)) return order;
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
): Promise<{ ended: PolledOrder } | { nextPollMs: number }> {
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
    return { nextPollMs: pauseAfter(failure, pollIntervalMs) };
  }
}

/** A local activity fails without an ActivityFailure around it. If the partner was not asked, the next poll is the first. */
function pauseAfter(failure: TemporalFailure, pollIntervalMs: number): number {
  if (!(failure instanceof ApplicationFailure)) return pollIntervalMs;
  if (failure.type === FAILURE.rateLimited || failure.type === FAILURE.notLocally) return 0;
  return Math.max(pollIntervalMs, pauseOf(failure));
}

/** @returns undefined if the activity ended without an answer. */
async function pollUntilEnded(
  purchase: PurchaseRecord,
  orderId: string,
  { nextPollMs: firstDelayMs, deadline }: { nextPollMs: number; deadline: number },
): Promise<PolledOrder | undefined> {
  const { settings } = purchase;
  const { pollIntervalMs: intervalMs, watch } = settings;
  const { awaitOrderChange } = proxyActivities<Activities>(pollingOptions(settings, deadline - Date.now()));
  const request = { ...requestOf(purchase, orderId), firstDelayMs, intervalMs, watch, since: firstStart() };
  const summary = summaryOf(`polls until it has ended: ${orderId}`);
  const order = await awaitOrderChange.executeWithOptions({ summary }, [request]).catch(() => undefined);
  return polledOrder(purchase, orderId, order);
}

/** One poll, at the deadline and before another review. @returns undefined if the partner could not be asked. */
export async function pollOnce(purchase: PurchaseRecord, orderId: string): Promise<PolledOrder | undefined> {
  const { pollOrder } = proxyActivities<Activities>(singlePollOptions(purchase.settings));
  const summary = summaryOf(`one poll of ${orderId}`);
  const order = await pollOrder.executeWithOptions({ summary }, [requestOf(purchase, orderId)]).catch(() => undefined);
  return polledOrder(purchase, orderId, order);
}

/** What a poll has shown. @returns undefined if it ended without an answer, or an operator completed it with another one. */
function polledOrder(purchase: PurchaseRecord, orderId: string, answer: unknown): PolledOrder | undefined {
  if (!isPolledOrder(orderId, answer)) return undefined;
  purchase.notePoll(answer.status);
  return answer;
}

function requestOf({ input, fingerprintSecretId }: PurchaseRecord, orderId: string): PollOrderInput {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  return { orderId, referenceId: input.referenceId, firstRunId, fingerprintSecretId };
}
