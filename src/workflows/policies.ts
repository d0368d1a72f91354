import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PurchaseSettings } from '../contracts/purchase';

/*
 * All timeouts, retry policies and delays, in milliseconds. Those of a purchase are derived from the settings with
 * which it started. This file imports only types, so every module may import it.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** In a full task queue, 1 runs before 5. Placements and deliveries share a priority key so that neither starves. */
const PRIORITY = {
  placementsAndDeliveries: { priorityKey: 1 },
  confirmation: { priorityKey: 2 },
  polls: { priorityKey: 3 },
  reconciliation: { priorityKey: 5 },
} as const;

/** For local activities without I/O, which exist only to record their result. */
export const localOptions: LocalActivityOptions = {
  startToCloseTimeout: 10 * SECOND,
};

/**
 * The shortest delay at this history length, in ms. The server terminates a workflow at 51,200 events, and a purchase
 * can't continue as new: its activities would mistake that for a reset and refuse to place an order. This delay doubles
 * every 500 events, which keeps any loop below 12,800 events.
 */
export function delayFloorMs(historyLength: number): number {
  const doublings = Math.floor((historyLength - 4_000) / 500);
  return doublings < 0 ? 0 : MINUTE * 2 ** doublings;
}

/**
 * The backoff after this attempt, as the server calculates it. Missing fields of the policy have Temporal's defaults.
 */
export function retryPolicyDelayMs(attempt: number, policy: ActivityOptions['retry'] = {}): number {
  const { initialInterval = SECOND, backoffCoefficient = 2, maximumInterval = 100 * Number(initialInterval) } = policy;
  return Math.min(Number(initialInterval) * backoffCoefficient ** (attempt - 1), Number(maximumInterval));
}

/** The longest Retry-After that is honoured. An activity with limited attempts has to stay short. */
export function maxHonouredDelayMs({ maximumAttempts }: ActivityOptions['retry'] = {}): number {
  return maximumAttempts ? MINUTE : Infinity;
}

/* Placing an order */

/**
 * The age limit of a placement attempt, from its dispatch to the write, so that a worker that was frozen sends nothing
 * late. Also the heartbeat timeout, so a dead worker is noticed in less than 20 s by default.
 */
export function placementMaxAgeMs(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  return Math.max(10 * SECOND, settings.partnerTimeoutMs + 2 * SECOND);
}

/**
 * Reserved at the end of the age limit for connecting and recording the intention. The permit must be granted before.
 */
export const PLACEMENT_WRITE_MS = 2 * SECOND;

/**
 * The lowest usable `PARTNER_MAX_RPS`, to two decimals. The four requests of a placement must fit into one attempt: a
 * search, two pages of the history if the partner ignores the search parameter, and the write.
 */
export function minRequestRate(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  const lowest = (4 * SECOND) / (placementMaxAgeMs(settings) - PLACEMENT_WRITE_MS);
  return Math.ceil(lowest * 100) / 100;
}

/** How long a placement's request may still be in flight after the end of its attempt. */
export function placementInFlightMs(settings: PurchaseSettings): number {
  return placementMaxAgeMs(settings) + settings.partnerTimeoutMs;
}

/**
 * There is only one attempt. It times out only when its request can no longer be in flight. The first heartbeat records
 * the intention to send, so the heartbeat timeout also limits the time before that record.
 */
export function placementOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: placementInFlightMs(settings) + 5 * SECOND,
    heartbeatTimeout: placementMaxAgeMs(settings),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { maximumAttempts: 1 },
  };
}

/** The delay before the next placement attempt: from 2 s, doubling to 1 min, and at least the partner's Retry-After. */
export function placementDelayMs(attempt: number, retryAfterMs = 0): number {
  return Math.max(Math.min(2 * SECOND * 2 ** (attempt - 1), MINUTE), retryAfterMs);
}

/** The delay before another attempt if only a permit under `PARTNER_MAX_RPS` was missing: 1 s to 1 min. */
export function permitDelayMs(permitInMs: number): number {
  return Math.min(Math.max(permitInMs, SECOND), MINUTE);
}

/** The delay before a paused purchase asks again: from 30 s, doubling to 5 min. */
export function breakerRetryDelayMs(settings: Pick<PurchaseSettings, 'confirmWindowMs'>, times: number): number {
  return Math.min(breakerUnit(settings) * 0.5 * 2 ** (times - 1), 5 * breakerUnit(settings));
}

/** The circuit breaker's delays: from 30 s, doubling to 10 min, but at most a sixth of `PURCHASE_PLACE_WITHIN`. */
export function circuitBreakerDelays(settings: PurchaseSettings): { firstDelayMs: number; maxDelayMs: number } {
  const unit = breakerUnit(settings);
  return { firstDelayMs: unit / 2, maxDelayMs: Math.min(10 * unit, settings.placeWithinMs / 6) };
}

/** A minute, or the confirmation window if it is shorter, so that both scale together. */
function breakerUnit({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number {
  return Math.min(confirmWindowMs, MINUTE);
}

/* Confirming a placement whose outcome is unknown */

/**
 * One search of the order history, which may need several pages. The server retries only a search that got no permit
 * under `PARTNER_MAX_RPS`, because this must not restart the window. All other failures go back to the workflow.
 */
export function historySearchOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: 4 * settings.partnerTimeoutMs + 30 * SECOND,
    scheduleToCloseTimeout: HOUR,
    priority: PRIORITY.confirmation,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
  };
}

/** How long a search waits for its permits under `PARTNER_MAX_RPS`. This leaves time for the last request. */
export function searchPermitWaitMs(settings: PurchaseSettings): number {
  return 3 * settings.partnerTimeoutMs + 28 * SECOND;
}

/** The increasing delays between searches of the order history. Their sum is the confirmation window. */
export function confirmationDelaysMs({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number[] {
  return [1, 2, 4, 8, 15, 30].map((share) => Math.round((confirmWindowMs * share) / 60));
}

/** How long an unreadable history is searched before an operator is asked: at least `PURCHASE_PLACE_WITHIN`. */
export function unreadableHistoryTimeoutMs({ confirmWindowMs, placeWithinMs }: PurchaseSettings): number {
  return Math.max(3 * confirmWindowMs, placeWithinMs);
}

/**
 * The longest duration of a confirmation, in ms, counted from when no request can be in flight. If the partner is down,
 * each search fails after an hour, and the confirmation gives up only after several failed searches.
 */
export function maxConfirmationMs(settings: PurchaseSettings): number {
  const longestSearches = confirmationDelaysMs(settings).length * HOUR;
  return Math.max(unreadableHistoryTimeoutMs(settings), longestSearches) + 2 * HOUR + settings.confirmWindowMs;
}

/** The limit for the last search before a purchase ends without an order. Short, because an operator may be waiting. */
export function lastSearchTimeoutMs({ confirmWindowMs }: PurchaseSettings): number {
  return 3 * confirmWindowMs;
}

/* Local activities: the first poll and the first delivery */

/**
 * The first poll of an order that was just placed. The workflow task waits for it, so there is only one attempt.
 * Together with {@link firstDeliveryOptions} it takes at most 3 s of the 10 s that a workflow task may take.
 */
export const firstPollOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.75 * SECOND,
  retry: { maximumAttempts: 1 },
};

/** The first attempt to deliver an outcome, with its own deadline of 1 s. If it fails, an ordinary activity follows. */
export const firstDeliveryOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.25 * SECOND,
  retry: { maximumAttempts: 1 },
};

/* Polling an order */

/**
 * The wait for an order is the retry policy of one activity. It is durable and costs no history events, and the UI
 * shows the last response and the time of the next attempt. A crashed attempt is also retried after the interval.
 *
 * @param remainingMs the time until the deadline.
 */
export function pollingOptions(settings: PurchaseSettings, remainingMs: number): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    scheduleToCloseTimeout: remainingMs,
    priority: PRIORITY.polls,
    retry: {
      initialInterval: settings.pollIntervalMs,
      backoffCoefficient: 1,
      maximumInterval: settings.pollIntervalMs,
    },
  };
}

/** With `PURCHASE_WATCH=history`, every twentieth attempt polls the order, whatever the order history shows. */
export const FORCED_POLL_EVERY = 20;

/** A single poll, at the deadline and before another review. {@link maxHonouredDelayMs} limits its delays. */
export function singlePollOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 4 * SECOND, maximumAttempts: 6 },
  };
}

/**
 * The check of an order named by an operator. It ends before {@link RESPONSE_TIMEOUT_MS} unless a request takes longer.
 */
export function orderCheckOptions({ partnerTimeoutMs }: PurchaseSettings): ActivityOptions {
  return {
    scheduleToCloseTimeout: Math.max(20 * SECOND, partnerTimeoutMs + 5 * SECOND),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
  };
}

/** Reading an ended purchase, with its order and the closing memos of its runs. */
export function readEndedPurchaseOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    // It may search the order history.
    startToCloseTimeout: historySearchOptions(settings).startToCloseTimeout,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumAttempts: 6 },
  };
}

/* Notifying the checkout */

/** How long an event is retried. Checkouts are promised 24 hours; the rest is a margin. */
export const DELIVERY_RETRY_HOURS = 25;

/** The longest duration of one attempt, which waits for a permit, reads the keys and posts the event. */
export function deliveryAttemptMs(settings: PurchaseSettings): number {
  return settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 10 * SECOND;
}

/** The backoff between attempts grows to 10 minutes. A longer Retry-After is honoured. */
export function deliveryOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: deliveryAttemptMs(settings),
    scheduleToCloseTimeout: DELIVERY_RETRY_HOURS * HOUR,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
  };
}

/** Retried until the purchase ends. The delays are short enough for a try within {@link LAST_NOTICES_TIMEOUT_MS}. */
export function attentionNoticeOptions(settings: PurchaseSettings): ActivityOptions {
  const retry = { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 20 * SECOND };
  return { ...deliveryOptions(settings), scheduleToCloseTimeout: undefined, retry };
}

/** How long attention notices are retried after the outcome has been delivered and shown. */
export const LAST_NOTICES_TIMEOUT_MS = MINUTE;

/* Reconciling */

/** One activity, which starts over if its worker dies. It ends before the next night's reconciliation. */
export const reconciliationOptions: ActivityOptions = {
  startToCloseTimeout: 6 * HOUR,
  scheduleToCloseTimeout: 18 * HOUR,
  heartbeatTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  priority: PRIORITY.reconciliation,
  retry: { initialInterval: 5 * SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
};

/** A quarter of the heartbeat timeout. A cancel request also arrives with a heartbeat. */
export const HEARTBEAT_INTERVAL_MS = 5 * SECOND;

/** Requests to the partner are retried within that activity, because a failed activity starts over. */
export const readRetry = { tries: 4, firstDelayMs: 500 };

/**
 * The longest Retry-After that is honoured while the order history is read, and the limit for their sum. Every page is
 * needed, and four of the six hours are left for the rest.
 */
export const pageDelays = { maxMs: HOUR, totalMs: 2 * HOUR };

/** The same for single orders. An order that can't be read is left for the next night. */
export const orderDelays = { maxMs: 30 * SECOND, totalMs: 2 * HOUR };

/** A reconciliation must end before the next one starts. */
export const RECONCILIATION_TIMEOUT_MS = 23 * HOUR;

/**
 * With jitter, so that many namespaces do not start at once. A run missed while the server was down may start up to
 * 12 h late.
 */
export const schedulePolicies = { jitter: 5 * MINUTE, catchupWindow: 12 * HOUR };

/** The age from which an order without a purchase is a finding. A placement and its confirmation may take this long. */
export function minFindingAgeMs({ confirmWindowMs, partnerTimeoutMs }: PurchaseSettings): number {
  return 2 * (confirmWindowMs + partnerTimeoutMs);
}

/* Processes */

/** How long a command or a reconciliation waits for a worker to respond to an update or to deliver. */
export const RESPONSE_TIMEOUT_MS = 30 * SECOND;

/** At shutdown, running activities get time to finish. By default, the SDK would cancel them at once. */
export function shutdownOptions(settings: PurchaseSettings): { shutdownGraceTime: number; shutdownForceTime: number } {
  const graceMs = 2 * settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 5 * SECOND;
  return { shutdownGraceTime: graceMs, shutdownForceTime: graceMs + 10 * SECOND };
}

/**
 * How long workflow code may run without yielding, including a freeze. When this timeout fires, Node may crash the
 * process (nodejs/node#38503), which happened with the SDK's default of 5 s. The SDK's types hide this option.
 */
export const workflowCodeOptions = { isolateExecutionTimeout: MINUTE };

/** When it starts, a worker or a command tries to reach Temporal every 5 s for a minute. */
export const connectRetry = { tries: 12, everyMs: 5 * SECOND };

/** For `doctor`, which reports a problem instead of waiting. */
export const connectOnce = { tries: 1, everyMs: 10 * SECOND };
