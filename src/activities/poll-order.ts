import { activityInfo, log } from '@temporalio/activity';
import type { Activities, PollUntilEndedInput, PolledOrder, PollOrderInput } from '../contracts/activities';
import { canStopPolling, mayHaveEnded, safeStatus } from '../domain/order';
import { isPartnerError, type Order } from '../partner';
import { FORCED_POLL_EVERY } from '../workflows/policies';
import { type ActivityDependencies, ownRunId, readPermits } from './dependencies';
import { readEarlierRuns, secretIdBefore } from './read-ended-purchase';
import { ACCESS_DENIED, retryAsOrdinaryActivity, toFailure, orderStillOpen } from './failures';
import { addKeyIds, snapshotOf } from './order-keys';

/** An attempt this close to the deadline does not poll, because the workflow polls once more at the deadline. */
const CLOSING_MS = 250;

/** Polls an order. Reading is harmless, so both activities may be retried, paused, reset or run twice. */
export function createPollOrderActivities(
  deps: ActivityDependencies,
): Pick<Activities, 'pollUntilEnded' | 'pollOrder'> {
  return {
    async pollUntilEnded(input) {
      const { attempt } = activityInfo();
      const delay = delayWithin(deps, input.intervalMs);
      if (attempt === 1 && input.firstDelayMs > 0) {
        const message = `the order was still open at the first poll; next poll in ${formatSeconds(input.firstDelayMs)}`;
        throw orderStillOpen(message, delayWithin(deps, input.firstDelayMs));
      }
      if (remaining(deps) < CLOSING_MS) throw orderStillOpen('the deadline has been reached', input.intervalMs);
      const isForced = attempt % FORCED_POLL_EVERY === 0;
      const reason = input.watch === 'history' && !isForced ? deps.historyWatch.skipReason(input) : undefined;
      if (reason !== undefined) throw orderStillOpen(`${reason}; next check in ${formatSeconds(delay)}`, delay);
      return pollOpenOrder(deps, input, delay);
    },
    async pollOrder(input) {
      const { isLocal } = activityInfo();
      if (isLocal && ownRunId() !== input.firstRunId) {
        throw retryAsOrdinaryActivity('not possible locally in a run after a reset');
      }
      return poll(deps, input, isLocal ? 'poll' : 'delivery');
    },
  };
}

async function pollOpenOrder(
  deps: ActivityDependencies,
  input: PollUntilEndedInput,
  delay: number,
): Promise<PolledOrder> {
  const { orderId } = input;
  const order = await poll(deps, input, 'poll', delay);
  const { status } = order;
  if (canStopPolling(status)) return order;
  if (mayHaveEnded(status)) log.warn('undocumented order status', { orderId, status });
  throw orderStillOpen(`the order is ${status}; next poll in ${formatSeconds(delay)}`, delay);
}

/**
 * @param permitClass `delivery` for a poll at the deadline or after a decision, which is as urgent as a delivery.
 * @param delay the delay before the next poll, in ms; undefined for a single poll.
 */
async function poll(
  deps: ActivityDependencies,
  input: PollOrderInput,
  permitClass: 'poll' | 'delivery',
  delay?: number,
): Promise<PolledOrder> {
  const { orderId } = input;
  try {
    const { data: order } = await deps.partner.withPermits(readPermits(deps, permitClass), (partner) =>
      partner.getOrder(orderId, input.productIds),
    );
    deps.metrics.count('fulfilment_polls', { result: canStopPolling(order.status) ? 'ended' : 'open' });
    return await toPolledOrder(deps, input, order);
  } catch (error) {
    if (isPartnerError(error)) {
      if (error.permitInMs === undefined) deps.metrics.count('fulfilment_polls', { result: 'failed' });
      if (delay !== undefined && error.kind === 'not-found') {
        const nextMs = delayWithin(deps, Math.max(delay, error.retryAfterMs ?? 0));
        throw orderStillOpen(`the partner does not show ${orderId} yet; next poll in ${formatSeconds(nextMs)}`, nextMs);
      }
      if (error.kind === 'access') log.error(ACCESS_DENIED, { reason: error.message });
    }
    throw toFailure(error, delay, (wanted) => delayWithin(deps, wanted));
  }
}

async function toPolledOrder(deps: ActivityDependencies, input: PollOrderInput, order: Order): Promise<PolledOrder> {
  const { orderId, referenceId, firstRunId } = input;
  const status = safeStatus(order.status);
  // After a reset or a second start, the new run must learn what earlier ones delivered, even if the order has been
  // refunded since.
  const isLaterRun = ownRunId() !== firstRunId;
  const needsEarlier = (isLaterRun || input.mayHaveEarlierExecution === true) && canStopPolling(status);
  const earlier = needsEarlier ? await readEarlierRuns(deps.purchases, referenceId, ownRunId()) : undefined;
  const secretId = earlier && (await secretIdBefore(deps.purchases, referenceId, firstRunId, earlier));
  const lines = addKeyIds(deps, order, secretId ?? input.fingerprintSecretId);
  const snapshot = {
    ...snapshotOf(orderId, order, lines),
    receivedKeyIds: earlier?.receivedKeyIds,
    keylessEvents: earlier?.keylessEvents,
  };
  if (!canStopPolling(status)) return snapshot;
  deps.purchases.noteOwner(orderId, referenceId);
  const [claimedBy] = await deps.purchases.othersWithOrder(orderId, referenceId);
  return { ...snapshot, claimedBy };
}

/**
 * The delay before the next poll. It is shortened at the end, because the server gives up if a retry would start after
 * the deadline.
 */
function delayWithin(deps: ActivityDependencies, wanted: number): number {
  const left = remaining(deps) - CLOSING_MS / 2;
  return left > 0 ? Math.min(wanted, left) : wanted;
}

function remaining(deps: ActivityDependencies): number {
  const { isLocal, scheduleToCloseTimeoutMs, scheduledTimestampMs } = activityInfo();
  // A local poll has no deadline.
  if (isLocal || scheduleToCloseTimeoutMs <= 0) return Infinity;
  return scheduledTimestampMs + scheduleToCloseTimeoutMs - deps.now();
}

function formatSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
