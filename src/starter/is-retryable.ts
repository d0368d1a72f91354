import { GRPC_STATUS } from '../temporal/client';
import { NoResponseError, PurchaseNotEndedError } from './errors';

/** The server did not respond, was overloaded, or failed. */
const TEMPORARY: readonly unknown[] = [
  GRPC_STATUS.UNKNOWN,
  GRPC_STATUS.DEADLINE_EXCEEDED,
  GRPC_STATUS.RESOURCE_EXHAUSTED,
  GRPC_STATUS.ABORTED,
  GRPC_STATUS.INTERNAL,
  GRPC_STATUS.UNAVAILABLE,
];

/** The message of `Connection.connect` if Temporal can't be reached. The error has no code. */
const NOT_CONNECTED = 'Failed to connect before the deadline';

/**
 * Whether to repeat a call that threw this error, with the same arguments and a backoff: Temporal did not respond, was
 * overloaded or failed temporarily, or the purchase has not ended. Also true if the address or the TLS settings are
 * wrong, because a proxy whose server is down looks the same: log the error. False if the arguments or the program
 * must change.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof NoResponseError) return error.isSafeToRepeat;
  if (error instanceof PurchaseNotEndedError) return true;
  const { message, code, cause } = (error ?? {}) as { message?: unknown; code?: unknown; cause?: { code?: unknown } };
  return message === NOT_CONNECTED || TEMPORARY.includes(cause?.code ?? code);
}
