import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PurchaseSettings } from '../contracts/purchase';

/*
 * Every timeout, retry policy and pause of this project, in milliseconds. Those of a purchase are derived from the settings that it
 * began with. This file imports nothing that runs, so every module may import it.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** 1 goes before 5 in a full task queue. The server is strict about it, so placements and deliveries share a key. */
const PRIORITY = {
  placementsAndDeliveries: { priorityKey: 1 },
  confirmation: { priorityKey: 2 },
  polls: { priorityKey: 3 },
  reconciliation: { priorityKey: 5 },
} as const;

/** A local activity without I/O: it is only recorded. */
export const localOptions: LocalActivityOptions = {
  startToCloseTimeout: 10 * SECOND,
};

/**
 * The shortest pause of a purchase whose history has so many events. A purchase never continues as new, which the fences would take
 * for a reset, and the server ends it at 51,200 events: with this floor, whatever repeats ends below 12,800.
 */
export function pauseFloor(historyLength: number): number {
  const doublings = Math.floor((historyLength - 4_000) / 500);
  return doublings < 0 ? 0 : MINUTE * 2 ** doublings;
}

/** The pause of an activity after so many attempts, as the server computes it. What the policy leaves out has Temporal's default. */
export function policyPause(attempt: number, policy: ActivityOptions['retry'] = {}): number {
  const { initialInterval = SECOND, backoffCoefficient = 2, maximumInterval = 100 * Number(initialInterval) } = policy;
  return Math.min(Number(initialInterval) * backoffCoefficient ** (attempt - 1), Number(maximumInterval));
}

/** The longest pause that the partner or the checkout may ask for. An activity with few attempts has to be short. */
export function longestAskedPause({ maximumAttempts }: ActivityOptions['retry'] = {}): number {
  return maximumAttempts ? MINUTE : Infinity;
}

/* Placing an order */

/**
 * How old a placement attempt may be when its request is written, from its dispatch: a worker that was frozen before the write sends
 * nothing later. Also its heartbeat timeout: a dead worker is noticed in under 20 s.
 */
export function placementMaxAge(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  return Math.max(10 * SECOND, settings.partnerTimeoutMs + 2 * SECOND);
}

/** How long before its age limit a placement has the permit for its write: then come the connection and the record. */
export const placementWriteTime = 2 * SECOND;

/**
 * The lowest `PARTNER_MAX_RPS`, to two decimals, under which the four requests of a placement fit into one attempt: a search, two
 * pages of the history if the partner ignores the search, and the write. The first permit comes up to one distance later.
 */
export function lowestRequestRate(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  const lowest = (4 * SECOND) / (placementMaxAge(settings) - placementWriteTime);
  return Math.ceil(lowest * 100) / 100;
}

/** For how long after its attempt was given up a placement's request may still be on its way to the partner. */
export function placementInFlight(settings: PurchaseSettings): number {
  return placementMaxAge(settings) + settings.partnerTimeoutMs;
}

/**
 * One attempt, ever. When the timeout ends an attempt that is alive, no request of it can still be on its way. The only heartbeat
 * before the write is the record of the intention.
 */
export function placementOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: placementInFlight(settings) + 5 * SECOND,
    heartbeatTimeout: placementMaxAge(settings),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { maximumAttempts: 1 },
  };
}

/** Before the next attempt at a placement: doubling from 2 s to 1 min, never shorter than the partner asked for. */
export function placementPause(attempt: number, retryAfterMs = 0): number {
  return Math.max(Math.min(2 * SECOND * 2 ** (attempt - 1), MINUTE), retryAfterMs);
}

/** Before a placement that only lacked a permit under `PARTNER_MAX_RPS`: when one may come, but within a minute. */
export function permitPause(permitInMs: number): number {
  return Math.min(Math.max(permitInMs, SECOND), MINUTE);
}

/** Before a paused purchase asks again: 30 s, doubling to 5 min. */
export function pausedPause(settings: Pick<PurchaseSettings, 'confirmWindowMs'>, times: number): number {
  return Math.min(breakerUnit(settings) * 0.5 * 2 ** (times - 1), 5 * breakerUnit(settings));
}

/** The circuit breaker: 30 s from opening to the first trial, doubling to 10 min, so that `PURCHASE_PLACE_WITHIN` has several trials. */
export function circuitBreakerPauses(settings: PurchaseSettings): { firstPauseMs: number; longestPauseMs: number } {
  const unit = breakerUnit(settings);
  return { firstPauseMs: unit / 2, longestPauseMs: Math.min(10 * unit, settings.placeWithinMs / 6) };
}

/** A minute. A shorter confirmation window makes the pauses around the circuit breaker shorter, so that their relation stays. */
function breakerUnit({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number {
  return Math.min(confirmWindowMs, MINUTE);
}

/* Confirming a placement of unknown outcome */

/**
 * One search of the order history, which may take several pages. The server repeats only one that lacked a permit under
 * `PARTNER_MAX_RPS`, which must not begin the window again. The workflow itself repeats every other one.
 */
export function historySearchOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: 4 * settings.partnerTimeoutMs + 30 * SECOND,
    scheduleToCloseTimeout: HOUR,
    priority: PRIORITY.confirmation,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
  };
}

/** How long a search waits for its permits under `PARTNER_MAX_RPS`: it leaves time for the last request. */
export function searchPermitWait(settings: PurchaseSettings): number {
  return 3 * settings.partnerTimeoutMs + 28 * SECOND;
}

/** The pauses between searches of the order history: soon, then with growing gaps. Together they are the confirmation window. */
export function confirmationPauses({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number[] {
  return [1, 2, 4, 8, 15, 30].map((share) => Math.round((confirmWindowMs * share) / 60));
}

/** How long an unreadable history is searched before an operator is asked: nobody is woken while the placement may still be tried. */
export function unreadableHistoryTimeout({ confirmWindowMs, placeWithinMs }: PurchaseSettings): number {
  return Math.max(3 * confirmWindowMs, placeWithinMs);
}

/**
 * The longest time of a confirmation, in ms from when no request can be in flight. A partner that is down fails each search after an
 * hour, and it takes several failed searches to give up.
 */
export function longestConfirmation(settings: PurchaseSettings): number {
  const longestSearches = confirmationPauses(settings).length * HOUR;
  return Math.max(unreadableHistoryTimeout(settings), longestSearches) + 2 * HOUR + settings.confirmWindowMs;
}

/** The same for a search before a purchase ends without an order. An operator may wait for it, and must not lose the hold for long. */
export function lastSearchTimeout({ confirmWindowMs }: PurchaseSettings): number {
  return 3 * confirmWindowMs;
}

/* Local activities in a workflow task: a first poll and a first delivery */

/**
 * The first poll of an order that was just placed. A workflow task waits for it, and is repeated if its worker dies: so one attempt,
 * and together with {@link firstDeliveryOptions} 3 s of the 10 s that the server gives such a task.
 */
export const firstPollOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.75 * SECOND,
  retry: { maximumAttempts: 1 },
};

/** The first attempt at the event of an outcome; its own deadline is a second. What fails goes on as an ordinary activity. */
export const firstDeliveryOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.25 * SECOND,
  retry: { maximumAttempts: 1 },
};

/* Polling an order */

/**
 * The wait for an order: not a loop but the retry policy of one activity, which is durable, costs no history event, and shows its last
 * answer and the time of the next in the UI. A crashed attempt is retried after the interval, too. @param remainingMs to the deadline
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

/** With `PURCHASE_WATCH=history` every so many attempts poll the order, whatever the order history says. */
export const ROUTINE_POLL = 20;

/** One poll, at the deadline and before another review: short, once a worker has it. {@link longestAskedPause} bounds its pauses. */
export function singlePollOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 4 * SECOND, maximumAttempts: 6 },
  };
}

/** The read of an order that an operator names and waits for: it ends before {@link answerTimeout}, unless one request may take longer. */
export function orderCheckOptions({ partnerTimeoutMs }: PurchaseSettings): ActivityOptions {
  return {
    scheduleToCloseTimeout: Math.max(20 * SECOND, partnerTimeoutMs + 5 * SECOND),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
  };
}

/** The read of a purchase that has ended, with its order and the closing memos of its runs. */
export function readSaleOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 30 * SECOND,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumAttempts: 6 },
  };
}

/* Notifying the checkout */

/** An event is tried again soon, then every 10 minutes, for 25 hours: docs/architecture.md#events promises 24. */
export function deliveryOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 10 * SECOND,
    scheduleToCloseTimeout: 25 * HOUR,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
  };
}

/** An alert never delays an outcome: three tries, within a minute. */
export function alertOptions(settings: PurchaseSettings): ActivityOptions {
  const retry = { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 };
  return { ...deliveryOptions(settings), scheduleToCloseTimeout: MINUTE, retry };
}

/* Reconciling */

/** One activity that begins again from the start if its worker dies, which the missing heartbeat shows. It ends before the next night's. */
export const reconciliationOptions: ActivityOptions = {
  startToCloseTimeout: 6 * HOUR,
  scheduleToCloseTimeout: 18 * HOUR,
  heartbeatTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  priority: PRIORITY.reconciliation,
  retry: { initialInterval: 5 * SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
};

/** How often it shows that its worker is alive, which is also how a cancel arrives: four times within the timeout. */
export const heartbeatInterval = 5 * SECOND;

/** A read of the partner within that activity is tried again before the whole begins again. */
export const readRetry = { tries: 4, firstPauseMs: 500 };

/**
 * The longest pauses that the partner may ask for while its order history is read: one, and all of them. Without a page there is no
 * reconciliation, and four hours of the six are left for the rest.
 */
export const pagePauses = { longestMs: HOUR, togetherMs: 2 * HOUR };

/** The same for single orders: one that can't be read now is for the next night, and stops none of the others. */
export const orderPauses = { longestMs: 30 * SECOND, togetherMs: 2 * HOUR };

/** No reconciliation runs into the next night's. */
export const reconciliationTimeout = 23 * HOUR;

/** Many namespaces don't all begin in the same second. A server that was away at night still runs it, unless the next night is near. */
export const schedulePolicies = { jitter: 5 * MINUTE, catchupWindow: 12 * HOUR };

/** The age from which an order without a purchase is a finding: a placement and its confirmation may take as long. */
export function confirmedAge({ confirmWindowMs, partnerTimeoutMs }: PurchaseSettings): number {
  return 2 * (confirmWindowMs + partnerTimeoutMs);
}

/* Processes */

/** How long a command or a reconciliation waits for a worker to answer an update, or to deliver. */
export const answerTimeout = 30 * SECOND;

/** At shutdown, running activities may end by themselves. The SDK's own default would cancel them at once. */
export function shutdownOptions(settings: PurchaseSettings): { shutdownGraceTime: number; shutdownForceTime: number } {
  const graceMs = 2 * settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 5 * SECOND;
  return { shutdownGraceTime: graceMs, shutdownForceTime: graceMs + 10 * SECOND };
}

/**
 * How long workflow code may run without a pause, a freeze included. When it is cut short, Node may end the whole process
 * (nodejs/node#38503), as it did with the SDK's default of 5 s. The SDK takes this option, though its types hide it.
 */
export const workflowCodeOptions = { isolateExecutionTimeout: MINUTE };

/** Temporal is not reachable at the start of a worker or a command: tried for a minute, every 5 s. */
export const connectRetry = { tries: 12, everyMs: 5 * SECOND };

/** For a command that says what is wrong, rather than wait until it is right. */
export const connectOnce = { tries: 1, everyMs: 10 * SECOND };
