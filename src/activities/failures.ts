import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { FAILURE, type FailureType } from '../contracts/failures';
import { isDeliveryError } from '../delivery';
import { nameOf } from '../domain/presentable';
import { isPartnerError } from '../partner';
import { longestAskedPause, policyPause } from '../workflows/policies';

export { nameOf };

/** What an operator finds in the log when the partner answers 401 or 403, or refuses a placement like that. */
export const ACCESS_REFUSED = 'the partner refuses us';

/**
 * The one place where our errors become Temporal's. Messages are made of facts that we chose; no cause and no stack goes
 * along, because both can carry text of the partner or the checkout, and with it a key.
 *
 * @param retryInMs the earliest next attempt, if the policy alone doesn't say it.
 * @param clamp of the pauses that the partner asks for, and of the one until a permit under `PARTNER_MAX_RPS` may come.
 */
export function toFailure(
  error: unknown,
  retryInMs?: number,
  clamp: (pauseMs: number) => number = (pauseMs) => pauseMs,
): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isPartnerError(error)) {
    if (error.permitInMs !== undefined) {
      return failure(FAILURE.rateLimited, error.message, { retryInMs: clamp(error.permitInMs), benign: true });
    }
    if (error.operation === 'getOrder' && error.reason === 'too-large') {
      return failure(FAILURE.orderTooLarge, error.message, { final: true });
    }
    const type = error.kind === 'access' ? FAILURE.partnerAccess : FAILURE.partnerUnavailable;
    const pauseMs = nextPause(error.retryAfterMs, retryInMs);
    return failure(type, error.message, { retryInMs: pauseMs && clamp(pauseMs) });
  }
  if (isDeliveryError(error)) {
    return failure(FAILURE.deliveryFailed, error.message, { retryInMs: nextPause(error.retryAfterMs) });
  }
  return failure(FAILURE.unexpected, `unexpected ${nameOf(error)}`, { retryInMs });
}

/** An attempt that found nothing new: benign, so that it neither warns nor counts as an error anywhere. */
export function unchanged(message: string, retryInMs: number): ApplicationFailure {
  return failure(FAILURE.orderUnchanged, message, { retryInMs, benign: true });
}

/** A local activity leaves its work to an ordinary one. */
export function notLocally(why: string): ApplicationFailure {
  return failure(FAILURE.notLocally, why, { final: true, benign: true });
}

/** A failure for people and for the retry policy; see {@link toFailure} for what it leaves out. */
export function failure(
  type: FailureType,
  message: string,
  options: { final?: boolean; retryInMs?: number; benign?: boolean } = {},
): ApplicationFailure {
  const pauseMs = options.retryInMs === undefined ? undefined : Math.max(1, Math.round(options.retryInMs));
  const made = ApplicationFailure.create({
    type,
    message,
    nonRetryable: options.final ?? false,
    nextRetryDelay: pauseMs,
    // For workflow code, see `pauseOf`. An ordinary activity waits for its permit by itself, and keeps its interval.
    details: pauseMs === undefined || options.benign ? [] : [pauseMs],
    category: options.benign ? ApplicationFailureCategory.BENIGN : undefined,
  });
  made.stack = '';
  return made;
}

/**
 * What a Retry-After asks for only makes a pause longer: `0`, for a day, would be an attempt each millisecond.
 *
 * @param ownMs the pause without it; by default that of the activity's own policy.
 */
function nextPause(askedMs: number | undefined, ownMs?: number): number | undefined {
  if (askedMs === undefined) return ownMs;
  const { attempt, retryPolicy, isLocal } = activityInfo();
  // The only attempt of a local activity is followed by an ordinary one, which its workflow starts as late as was asked.
  const heededMs = isLocal ? askedMs : Math.min(askedMs, longestAskedPause(retryPolicy));
  return Math.max(heededMs, ownMs ?? policyPause(attempt, retryPolicy));
}
