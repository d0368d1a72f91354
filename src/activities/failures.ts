import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { FAILURE, type FailureType } from '../contracts/failures';
import { isDeliveryError } from '../delivery';
import { errorName } from '../domain/safe-values';
import { withErrorCode } from '../domain/text-format';
import { isPartnerError } from '../partner';
import { grpcErrorOf } from '../temporal/client';
import { maxHonouredDelayMs, retryPolicyDelayMs } from '../workflows/policies';

/** The log message when the partner rejects the API key or path (401, 403, 404, 405). */
export const ACCESS_DENIED = 'the partner rejected the API key or path';

/**
 * The only place where our errors become Temporal failures. Messages contain only chosen facts. Cause and stack are
 * dropped, because they may quote the partner or the checkout, and thus a key.
 *
 * @param retryInMs the delay before the next attempt, if it differs from the retry policy.
 * @param clamp limits the delays that the partner or the rate limit asks for.
 */
export function toFailure(
  error: unknown,
  retryInMs?: number,
  clamp: (delayMs: number) => number = (delayMs) => delayMs,
): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isPartnerError(error)) {
    // The activity's name already identifies the operation.
    const message = withErrorCode(error.summary, error.code);
    if (error.permitInMs !== undefined) {
      return failure(FAILURE.rateLimited, message, { retryInMs: clamp(error.permitInMs), benign: true });
    }
    if (error.operation === 'getOrder' && error.reason === 'too-large') {
      return failure(FAILURE.orderTooLarge, message, { final: true });
    }
    const type = error.kind === 'access' ? FAILURE.partnerAccess : FAILURE.partnerUnavailable;
    const delayMs = nextDelay(error.retryAfterMs, retryInMs);
    return failure(type, message, { retryInMs: delayMs && clamp(delayMs) });
  }
  if (isDeliveryError(error)) {
    return failure(FAILURE.deliveryFailed, error.message, { retryInMs: nextDelay(error.retryAfterMs) });
  }
  const grpcStatus = grpcErrorOf(error)?.code;
  const status = grpcStatus === undefined ? '' : ` (gRPC status ${grpcStatus})`;
  return failure(FAILURE.unexpected, `unexpected ${errorName(error)}${status}`, { retryInMs });
}

/** An attempt that found nothing new. Benign, so that no log or metric counts it as an error. */
export function orderStillOpen(message: string, retryInMs: number): ApplicationFailure {
  return failure(FAILURE.orderStillOpen, message, { retryInMs, benign: true });
}

/** Ends a local activity so that an ordinary one takes over. */
export function retryAsOrdinaryActivity(reason: string): ApplicationFailure {
  return failure(FAILURE.notLocally, reason, { final: true, benign: true });
}

/** Creates a failure without cause and stack; see {@link toFailure}. */
export function failure(
  type: FailureType,
  message: string,
  options: { final?: boolean; retryInMs?: number; benign?: boolean } = {},
): ApplicationFailure {
  const delayMs = options.retryInMs === undefined ? undefined : Math.max(1, Math.round(options.retryInMs));
  const result = ApplicationFailure.create({
    type,
    message,
    nonRetryable: options.final ?? false,
    nextRetryDelay: delayMs,
    // For workflow code; see `retryDelayOf`. A benign failure needs none: the activity keeps its own interval.
    details: delayMs === undefined || options.benign ? [] : [delayMs],
    category: options.benign ? ApplicationFailureCategory.BENIGN : undefined,
  });
  result.stack = '';
  return result;
}

/**
 * A Retry-After can only lengthen a delay: honouring `0` would mean an attempt every millisecond.
 *
 * @param ownMs the delay without a Retry-After; by default that of the activity's retry policy.
 */
function nextDelay(requestedMs: number | undefined, ownMs?: number): number | undefined {
  if (requestedMs === undefined) return ownMs;
  const { attempt, retryPolicy, isLocal } = activityInfo();
  // A local activity has one attempt. Its workflow honours the Retry-After before it starts the ordinary activity.
  const honouredMs = isLocal ? requestedMs : Math.min(requestedMs, maxHonouredDelayMs(retryPolicy));
  return Math.max(honouredMs, ownMs ?? retryPolicyDelayMs(attempt, retryPolicy));
}
