import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PurchaseSettings } from '../contracts/purchase';

/**
 * Every timeout and retry policy of this project, with its reason. All times in ms are derived from the settings that a
 * purchase began with.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A local activity that does no I/O: it is only recorded. */
export const recorded: LocalActivityOptions = {
  startToCloseTimeout: 10 * SECOND,
};

/**
 * How old a placement attempt may be when its request is written. A worker that was frozen between taking the task and
 * the write wakes up beyond it and sends nothing.
 */
export function placementMaxAge(settings: PurchaseSettings): number {
  return 2 * settings.partnerTimeoutMs + 10 * SECOND;
}

/**
 * One attempt, ever. The timeout is longer than the greatest age of a write plus its request, so that when the server
 * gives an attempt up, no request of it can still be on its way.
 */
export function placing(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: placementMaxAge(settings) + settings.partnerTimeoutMs + 5 * SECOND,
    retry: { maximumAttempts: 1 },
  };
}

/** One look in the history. It may take several pages; the workflow itself looks again. */
export function lookingUp(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: 4 * settings.partnerTimeoutMs + 30 * SECOND,
    retry: { maximumAttempts: 1 },
  };
}

/**
 * The wait for an order: not a loop but the retry policy of one activity, which is durable, costs no history event and
 * shows in the UI as an attempt, its last answer and the next one's time. The coefficient of 1 is what a crashed attempt is
 * retried after.
 *
 * @param remainingMs to the deadline.
 */
export function watching(settings: PurchaseSettings, remainingMs: number): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    scheduleToCloseTimeout: remainingMs,
    retry: {
      initialInterval: settings.pollIntervalMs,
      backoffCoefficient: 1,
      maximumInterval: settings.pollIntervalMs,
    },
  };
}

/** The last look at the deadline, and the look at an order that is to be adopted: short. */
export function lookingOnce(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + 10 * SECOND,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumAttempts: 4 },
  };
}

/** How long an event is tried before it is held for a person. The interface promises at least 24 hours. */
export const DELIVERY_PATIENCE = 25 * HOUR;

/** Delivery: the first tries soon, then every 10 minutes, for a day. */
export function delivering(settings: PurchaseSettings): ActivityOptions {
  return {
    startToCloseTimeout: settings.partnerTimeoutMs + settings.deliveryTimeoutMs + 10 * SECOND,
    scheduleToCloseTimeout: DELIVERY_PATIENCE,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
  };
}
