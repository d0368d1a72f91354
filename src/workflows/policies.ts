import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PurchaseSettings } from '../contracts/purchase';

/**
 * Every timeout and retry policy of this project, with its reason. All numbers are milliseconds. Those of a purchase are
 * derived from the settings that it began with. It imports nothing that runs, so that every module may import it.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Which activities of a full task queue are dispatched first: 1 before 5, and of one key the oldest. The server is strict
 * about it: the lower of two keys waits for as long as the higher one has anything. So placements and deliveries share a key,
 * as they share the partner's rate. Polls have the server's default.
 *
 * The server adds the fairness key that the workflow was started with.
 */
const PRIORITY = {
  placementsAndDeliveries: { priorityKey: 1 },
  settling: { priorityKey: 2 },
  polls: { priorityKey: 3 },
  reconciliation: { priorityKey: 5 },
} as const;

/** A local activity that does no I/O: it is only recorded. */
export const localOptions: LocalActivityOptions = {
  startToCloseTimeout: 10 * SECOND,
};

/**
 * The shortest pause of a purchase whose history has so many events. A purchase never continues as new, which the fences would
 * take for a reset, and the server ends it at 51,200 events. So from 4,000 events on no pause is shorter than a minute, and
 * every 500 events double that: whatever is repeated, for however long the settings allow, ends below 12,800 events. No
 * purchase with the default settings comes to 4,000.
 *
 * @param historyLength in events.
 */
export function pauseFloor(historyLength: number): number {
  const doublings = Math.floor((historyLength - 4_000) / 500);
  return doublings < 0 ? 0 : MINUTE * 2 ** doublings;
}

/**
 * The pause of an activity after so many attempts, as the server computes it. What the policy leaves out has Temporal's default.
 *
 * @param policy as the server gives it to the activity, times in milliseconds.
 */
export function policyPause(attempt: number, policy: ActivityOptions['retry'] = {}): number {
  const { initialInterval = SECOND, backoffCoefficient = 2, maximumInterval = 100 * Number(initialInterval) } = policy;
  return Math.min(Number(initialInterval) * backoffCoefficient ** (attempt - 1), Number(maximumInterval));
}

/**
 * The longest pause that the partner or the checkout may ask of an activity. What has few attempts is to be short: six with an hour
 * between them would keep an order at its deadline, or a person, waiting for five hours.
 */
export function longestAskedPause({ maximumAttempts }: ActivityOptions['retry'] = {}): number {
  return maximumAttempts ? MINUTE : Infinity;
}

/* Placing an order */

/**
 * How old a placement attempt may be when its request is written, counted from when it was dispatched: also its heartbeat
 * timeout. A worker that was frozen between taking the task and the write wakes up beyond it and sends nothing; one that died
 * is noticed after it, which is in under 20 s at the defaults.
 */
export function placementMaxAge(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  return Math.max(10 * SECOND, settings.partnerTimeoutMs + 2 * SECOND);
}

/** How long before its age limit a placement has the permit for its write: then come the connection and the record. */
export const placementWriteTime = 2 * SECOND;

/** The requests of a placement: a search, two pages of the history if the partner ignores the search, and the write. */
const PLACEMENT_REQUESTS = 4;

/**
 * The lowest `PARTNER_MAX_RPS`, to two decimals, under which all requests of a placement fit into one attempt. Permits come at
 * even distances, the first up to one distance after it is asked for.
 */
export function lowestRequestRate(settings: Pick<PurchaseSettings, 'partnerTimeoutMs'>): number {
  const lowest = (PLACEMENT_REQUESTS * SECOND) / (placementMaxAge(settings) - placementWriteTime);
  return Math.ceil(lowest * 100) / 100;
}

/** For how long after its attempt was given up a placement's request may still be on its way to the partner. */
export function placementInFlight(settings: PurchaseSettings): number {
  return placementMaxAge(settings) + settings.partnerTimeoutMs;
}

/**
 * One attempt, ever. The timeout is longer than the greatest age of a write plus its request, so that when it ends an attempt
 * that lives, no request of it can still be on its way. The only heartbeat before the write is the record of the intention.
 */
export function placementOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: placementInFlight(settings) + 5 * SECOND,
    heartbeatTimeout: placementMaxAge(settings),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { maximumAttempts: 1 },
  };
}

/**
 * The pause before the next attempt at a placement that was surely not sent, or refused for our own fault: doubling from
 * 2 s to 1 min, never shorter than what the partner asked for.
 */
export function placementPause(attempt: number, retryAfterMs = 0): number {
  return Math.max(Math.min(2 * SECOND * 2 ** (attempt - 1), MINUTE), retryAfterMs);
}

/**
 * The pause before a placement that lacked only a slot under `PARTNER_MAX_RPS` asks again. Not a growing one: the queue says
 * when a slot may come. A minute at the most, because it can come sooner.
 */
export function slotPause(turnInMs: number): number {
  return Math.min(Math.max(turnInMs, SECOND), MINUTE);
}

/* The brake */

/**
 * The measure of its pauses: `PURCHASE_CONFIRM_WINDOW` (1 min), and no more than that, for whoever settles longer does not want to wait
 * longer for a partner that is back.
 */
function brakeUnit({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number {
  return Math.min(Math.max(confirmWindowMs, 0.6 * SECOND), MINUTE);
}

/** From one probe to the next, 10 s: one small request, and what a sale waits for longer than the partner is away. */
export function probePause(settings: Pick<PurchaseSettings, 'confirmWindowMs'>): number {
  return brakeUnit(settings) / 6;
}

/**
 * Before the next purchase is let through, after so many that failed: doubling from 30 s to 10 min. Each may cost a hold, or a
 * sale where the balance is gone: some ten in the first hour.
 */
export function letThroughPause(settings: PurchaseSettings, failures: number): number {
  // Whoever waits is to have several chances within `PURCHASE_PLACE_WITHIN`.
  return Math.min(brakeUnit(settings) * Math.min(0.5 * 2 ** failures, 10), settings.placeWithinMs / 6);
}

/** So many that show nothing are let through one right after the other: each is a search at the partner. */
const MOST_AT_ONCE = 10;

/**
 * The pause before the next purchase is let through. After one that has shown nothing (its order is there already, it costs too much, it
 * had no slot) there is none, and after every ten of those in a row a short one.
 *
 * @param failures how many failed since it closed.
 * @param nothings how many in a row have shown nothing.
 * @param costsSales a refusal ends the purchase, and no probe can foresee it.
 */
export function nextLetThroughPause(
  settings: PurchaseSettings,
  { failures, nothings, costsSales }: { failures: number; nothings: number; costsSales: boolean },
): number {
  if (nothings > 0) return nothings % MOST_AT_ONCE === 0 ? probePause(settings) : 0;
  return failures === 0 && !costsSales ? probePause(settings) : letThroughPause(settings, failures);
}

/** So long a purchase that was let through has for its answer: an attempt, and a worker that has time for it. */
export function letThroughTimeout(settings: PurchaseSettings): number {
  return placementInFlight(settings) + 15 * SECOND;
}

/**
 * After so many pauses, when a purchase that waits asks again by itself: after 1 min, 3 min, 9 min, then every 15. It is woken when
 * the brake opens; this is for whom the lists did not show then, and thousands that ask must not keep the workers busy.
 */
export function pausedPause(settings: Pick<PurchaseSettings, 'confirmWindowMs'>, times: number): number {
  return brakeUnit(settings) * Math.min(3 ** (times - 1), 15);
}

/** An open brake that hears nothing more for 10 min ends; so does a closed one for which nobody has waited for half an hour. */
export function brakeQuiet(settings: Pick<PurchaseSettings, 'confirmWindowMs'>): { open: number; closed: number } {
  return { open: 10 * brakeUnit(settings), closed: 30 * brakeUnit(settings) };
}

/**
 * So long a brake is closed without a word of it: longer than a step of it, its longest pause and a minute for each of what follows. One
 * that an operator has paused, or whose workflow tasks fail after a deploy, would else hold every sale back for ever.
 */
export function brakeValidity(settings: PurchaseSettings): number {
  return letThroughTimeout(settings) + 10 * brakeUnit(settings) + 5 * MINUTE;
}

/** How many are woken together when it opens, and the pause to the next: a thousand in 40 s, which a worker keeps up with. */
export const WAKE_BATCH = 25;
export const wakeInterval = SECOND;

/** A short step of the brake, which goes on without its result. It is one for all that wait, so it waits behind none of them. */
export const brakeStepOptions: ActivityOptions = {
  startToCloseTimeout: 30 * SECOND,
  scheduleToCloseTimeout: 2 * MINUTE,
  priority: PRIORITY.placementsAndDeliveries,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
};

/** That sales have stopped or go on is news for a day: it waits out workers that are all busy, or all away. */
export const noticeOptions: ActivityOptions = {
  startToCloseTimeout: 30 * SECOND,
  scheduleToCloseTimeout: 24 * HOUR,
  priority: PRIORITY.placementsAndDeliveries,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/** Waking all who wait; whoever is left out asks by itself. */
export const wakeOptions: ActivityOptions = {
  startToCloseTimeout: HOUR,
  heartbeatTimeout: 20 * SECOND,
  priority: PRIORITY.settling,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
};

/** From so many events on the brake continues as new. */
export const BRAKE_HISTORY = 2_000;

/* Local activities in a workflow task: a first poll and a first delivery */

/**
 * The first poll of an order that was just placed. It needs no events of its own, but a workflow task waits for it, and is
 * repeated if its worker dies: so one attempt, and together with {@link firstDeliveryOptions} at most 3 s, of the 10 s that the
 * server gives a workflow task. What it does not find out costs a whole poll interval, so it gets the greater part.
 */
export const firstPollOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.75 * SECOND,
  retry: { maximumAttempts: 1 },
};

/** The first attempt at the event of an order that is exactly as ordered. What fails goes on as an ordinary activity, at once. */
export const firstDeliveryOptions: LocalActivityOptions = {
  scheduleToCloseTimeout: 1.25 * SECOND,
  retry: { maximumAttempts: 1 },
};

/* Settling a placement of unknown outcome */

/**
 * One search of the order history. It may take several pages. Only a search that lacked a slot under `PARTNER_MAX_RPS` is
 * tried again as this one, when a slot may come: it shows nothing, and must not begin the window anew. Every other failure is
 * final, and the workflow itself searches again.
 */
export function historySearchOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: 4 * settings.partnerTimeoutMs + 30 * SECOND,
    scheduleToCloseTimeout: HOUR,
    priority: PRIORITY.settling,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
  };
}

/**
 * When to search the order history after a placement of unknown outcome: soon, then with growing gaps.
 *
 * @returns the pauses before each search; together they are the settling time.
 */
export function settlingPauses({ confirmWindowMs }: Pick<PurchaseSettings, 'confirmWindowMs'>): number[] {
  return [1, 2, 4, 8, 15, 30].map((share) => Math.round((confirmWindowMs * share) / 60));
}

/**
 * How long an order history that can't be read is searched again before an operator is asked. A night of an unreadable history
 * wakes nobody while a placement may still be tried; the same wait is long enough for a key that is rotated.
 */
export function unreadableHistoryTimeout({ confirmWindowMs, placeWithinMs }: PurchaseSettings): number {
  return Math.max(3 * confirmWindowMs, placeWithinMs);
}

/** The same for a search that stands between an operator and the hold: an operator is there, and must not lose the hold for long. */
export function lastSearchTimeout({ confirmWindowMs }: PurchaseSettings): number {
  return 3 * confirmWindowMs;
}

/* Requests under PARTNER_MAX_RPS */

/**
 * How long an attempt that reads an order waits for its slot. It fails early where none comes in that time, and is tried
 * again when one may come: whoever waits keeps one of the worker's activity slots, which placements need, too.
 */
export const slotWait = 8 * SECOND;

/** The same for a local activity: a slot that is free at once, in terms of the timers of a busy process. */
export const localSlotWait = 50;

/** The same for a search of the order history, which takes several requests: it leaves time for the last of them. */
export function searchSlotWait(settings: PurchaseSettings): number {
  return 3 * settings.partnerTimeoutMs + 28 * SECOND;
}

/* Polling an order */

/**
 * The wait for an order: not a loop but the retry policy of one activity, which is durable, costs no history event and
 * shows in the UI as an attempt, its last answer and the next one's time. `PURCHASE_POLL_INTERVAL` (30 s) arrives here as
 * `pollIntervalMs`. The coefficient of 1 is what a crashed attempt is retried after.
 *
 * @param remainingMs to the deadline.
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

/* Watching the order history, PURCHASE_WATCH=history */

/** How many intervals a purchase waits for the watcher before it polls by itself. */
export const WATCH_INTERVALS = 20;

/**
 * How often an order is polled again, an interval apart, whose row is that of an order that has ended, and which is open by its first
 * poll. It is woken once for that row. A row may say so for long: after these it waits for another one, or for its own polls.
 */
export const POLLS_AFTER_WAKE = 3;

/**
 * The pause between two readings of the order history. Temporal's lists lag by about a second: whoever reads more often sees
 * nothing sooner.
 */
export function watchInterval({ pollIntervalMs }: Pick<PurchaseSettings, 'pollIntervalMs'>): number {
  return Math.max(pollIntervalMs, SECOND);
}

/**
 * The watcher. A dead worker shows after 20 s, and another one begins at once. One reading may take hours where the partner
 * is slow; after {@link WATCH_INTERVALS} of them the activity ends and the workflow continues as new, so that its history,
 * with a signal an interval of each worker, stays small.
 */
export const watchOptions: ActivityOptions = {
  startToCloseTimeout: 24 * HOUR,
  heartbeatTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  // All purchases that wait depend on this one.
  priority: PRIORITY.placementsAndDeliveries,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/**
 * The longest pauses that the partner may ask the watcher for, one and all of one reading: many purchases wait for it. What asks for
 * more has the reading fail, and the next one begins an interval later.
 */
export const watchPauses = { longestMs: 5 * MINUTE, togetherMs: 10 * MINUTE };

/**
 * The watcher ends when so many readings in a row found no purchase that waits. Each process asks for it once an interval at
 * most, so one that has begun to wait since is seen by the last of them, though lists lag.
 */
export const IDLE_ROUNDS = 3;

/** One read of an order, at the deadline and after a decision: short, once a worker has it. {@link longestAskedPause} bounds its pauses. */
export function singleReadOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 4 * SECOND, maximumAttempts: 6 },
  };
}

/**
 * The read of an order that an operator names, while the operator waits: all its attempts together end before
 * {@link answerTimeout}, unless one request alone may take longer.
 */
export function orderCheckOptions({ partnerTimeoutMs }: PurchaseSettings): ActivityOptions {
  return {
    scheduleToCloseTimeout: Math.max(20 * SECOND, partnerTimeoutMs + 5 * SECOND),
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
  };
}

/** What is to be sent after the end of a purchase: a read of the order, and of every event that was sent before. */
export function planningOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 30 * SECOND,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumAttempts: 6 },
  };
}

/* Notifying the checkout */

/** An event is tried soon again, then every 10 minutes, for 25 hours: docs/architecture.md#events promises 24. */
export function deliveryOptions(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 10 * SECOND,
    scheduleToCloseTimeout: 25 * HOUR,
    priority: PRIORITY.placementsAndDeliveries,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
  };
}

/* Reconciling */

/**
 * One activity that begins again from the start if its worker dies, which the missing heartbeat shows. Together with
 * its event it ends before the next night's run.
 */
export const reconciliationOptions: ActivityOptions = {
  startToCloseTimeout: 6 * HOUR,
  scheduleToCloseTimeout: 18 * HOUR,
  heartbeatTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  priority: PRIORITY.reconciliation,
  retry: { initialInterval: 5 * SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
};

/** How often it shows that its worker lives, which is also how a cancel arrives: four times within the timeout. */
export const heartbeatInterval = 5 * SECOND;

/** A read of the partner within that activity is tried again before the whole begins anew. */
export const readRetry = { tries: 4, firstPauseMs: 500 };

/**
 * The longest pauses that the partner may ask for while its order history is read: one, and all of them. Without a page there is no
 * reconciliation, so it is waited for, and four hours of the six are left for the rest.
 */
export const pagePauses = { longestMs: HOUR, togetherMs: 2 * HOUR };

/**
 * The same for orders that are read by themselves: one that is not to be had now is for the next night, and stops none of the others.
 * Four or more are read at the same time, so all pauses of such a step together take little more than half an hour.
 */
export const orderPauses = { longestMs: 30 * SECOND, togetherMs: 2 * HOUR };

/** Nothing of a reconciliation outlasts the next night's. */
export const reconciliationTimeout = 23 * HOUR;

/**
 * Many namespaces with the same cron don't all begin in the same second. A server that was away at night still runs it,
 * unless the next night is near.
 */
export const schedulePolicies = { jitter: 5 * MINUTE, catchupWindow: 12 * HOUR };

/** `reconciliation.completed` is given up after 3 hours: the report and the result say the same. */
export function completedEventOptions(settings: PurchaseSettings): ActivityOptions {
  return { ...deliveryOptions(settings), scheduleToCloseTimeout: 3 * HOUR, priority: PRIORITY.reconciliation };
}

/** The age from which an order without a purchase is a finding: a placement and its settling may take as long. */
export function settlingAge({ confirmWindowMs, partnerTimeoutMs }: PurchaseSettings): number {
  return 2 * (confirmWindowMs + partnerTimeoutMs);
}

/* Processes */

/** How long a command or a reconciliation waits for a worker to answer an update, or to deliver. */
export const answerTimeout = 30 * SECOND;

/**
 * At shutdown, running activities may end by themselves: a placement searches and writes, a delivery reads and posts. The
 * SDK's own default would cancel them at once.
 */
export function shutdownOptions(settings: PurchaseSettings): { shutdownGraceTime: number; shutdownForceTime: number } {
  const graceMs = 2 * settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 5 * SECOND;
  return { shutdownGraceTime: graceMs, shutdownForceTime: graceMs + 10 * SECOND };
}

/**
 * How long workflow code may run at a stretch. A freeze in its middle counts, and for code that is cut short Node may end the whole
 * process (nodejs/node#38503), as it now and then did by the SDK's default of 5 s. The SDK takes this option, though its types hide it.
 */
export const workflowCodeOptions = { isolateExecutionTimeout: MINUTE };

/** Temporal is not reachable at the start of a worker or a command: tried for a minute, every 5 s. */
export const connectRetry = { tries: 12, everyMs: 5 * SECOND };

/** For a command that says what is wrong, rather than wait until it is right. */
export const connectOnce = { tries: 1, everyMs: 10 * SECOND };
