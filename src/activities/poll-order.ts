import { activityInfo, log } from '@temporalio/activity';
import type { Activities, AwaitOrderInput, PolledOrder, PollOrderInput } from '../contracts/activities';
import { canStopPolling, mayHaveEnded, safeStatus } from '../domain/order';
import { isPartnerError, type Order } from '../partner';
import { FORCED_POLL_EVERY } from '../workflows/policies';
import { type ActivityDependencies, readPermits } from './dependencies';
import { readEarlierRuns } from './read-sale';
import { ACCESS_REFUSED, retryAsOrdinaryActivity, toFailure, unchanged } from './failures';
import { nameKeys, snapshotOf } from './order-keys';

/** An attempt this close to the deadline does not poll, because the workflow polls once more at the deadline. */
const CLOSING_MS = 250;

/** Polls an order. Reading is harmless, so both activities may be retried, paused, reset or run twice. */
export function createPollOrderActivities(
  deps: ActivityDependencies,
): Pick<Activities, 'awaitOrderChange' | 'pollOrder'> {
  return {
    async awaitOrderChange(input) {
      const { attempt } = activityInfo();
      const pause = pauseWithin(deps, input.intervalMs);
      if (attempt === 1 && input.firstDelayMs > 0) {
        const message = `the first poll showed no ended order; next poll in ${formatSeconds(input.firstDelayMs)}`;
        throw unchanged(message, pauseWithin(deps, input.firstDelayMs));
      }
      if (remaining(deps) < CLOSING_MS) throw unchanged('the deadline has been reached', input.intervalMs);
      const isForced = attempt % FORCED_POLL_EVERY === 0;
      const reason = input.watch === 'history' && !isForced ? deps.historyWatch.skipReason(input) : undefined;
      if (reason !== undefined) throw unchanged(`${reason}; next check in ${formatSeconds(pause)}`, pause);
      return pollOpenOrder(deps, input, pause);
    },
    async pollOrder(input) {
      const { isLocal, workflowExecution } = activityInfo();
      if (isLocal && workflowExecution?.runId !== input.firstRunId) {
        throw retryAsOrdinaryActivity('not possible locally in a run after a reset');
      }
      return poll(deps, input, isLocal ? 'poll' : 'delivery');
    },
  };
}

async function pollOpenOrder(deps: ActivityDependencies, input: AwaitOrderInput, pause: number): Promise<PolledOrder> {
  const { orderId } = input;
  const order = await poll(deps, input, 'poll', pause);
  const { status } = order;
  if (canStopPolling(status)) return order;
  if (mayHaveEnded(status)) log.warn('undocumented order status', { orderId, status });
  throw unchanged(`the order is ${status}; next poll in ${formatSeconds(pause)}`, pause);
}

/**
 * @param permitClass `delivery` for a poll at the deadline or after a decision, which is as urgent as a delivery.
 * @param pause the delay before the next poll, in ms; undefined for a single poll.
 */
async function poll(
  deps: ActivityDependencies,
  input: PollOrderInput,
  permitClass: 'poll' | 'delivery',
  pause?: number,
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
      if (pause !== undefined && error.kind === 'not-found') {
        throw unchanged(`the partner does not show ${orderId} yet; next poll in ${formatSeconds(pause)}`, pause);
      }
      if (error.kind === 'access') log.error(ACCESS_REFUSED, { reason: error.message });
    }
    throw toFailure(error, pause, (wanted) => pauseWithin(deps, wanted));
  }
}

async function toPolledOrder(deps: ActivityDependencies, input: PollOrderInput, order: Order): Promise<PolledOrder> {
  const { orderId, referenceId, firstRunId } = input;
  const status = safeStatus(order.status);
  // After a reset, the new run must learn what earlier runs delivered, even if the order has been refunded since.
  const isLaterRun = activityInfo().workflowExecution?.runId !== firstRunId;
  const needsEarlier = isLaterRun && canStopPolling(status);
  const earlier = needsEarlier ? await readEarlierRuns(deps.purchases, referenceId, firstRunId) : undefined;
  const lines = nameKeys(deps, order, earlier?.fingerprintSecretId ?? input.fingerprintSecretId);
  const snapshot = { ...snapshotOf(orderId, order, lines), receivedKeyIds: earlier?.receivedKeyIds };
  if (!canStopPolling(status)) return snapshot;
  deps.purchases.noteOwner(orderId, referenceId);
  const [claimedBy] = await deps.purchases.othersWithOrder(orderId, referenceId);
  return { ...snapshot, claimedBy };
}

/**
 * The delay before the next poll. It is shortened at the end, because the server gives up if a retry would start after
 * the deadline.
 */
function pauseWithin(deps: ActivityDependencies, wanted: number): number {
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
