import { GRPC_STATUS } from '../temporal/client';
import { NotAnsweredError, StarterError } from './errors';

/** Repeating the same request can't help. */
const PERMANENT: readonly unknown[] = [
  GRPC_STATUS.INVALID_ARGUMENT,
  GRPC_STATUS.NOT_FOUND,
  GRPC_STATUS.PERMISSION_DENIED,
  GRPC_STATUS.UNAUTHENTICATED,
];

/**
 * Whether to repeat a call that threw this error, with growing pauses and unchanged arguments: Temporal did not answer,
 * or was overloaded. False if the arguments, the program or the connection's settings must change first.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof NotAnsweredError) return true;
  if (error instanceof StarterError || error instanceof TypeError) return false;
  const { name, code, cause } = (error ?? {}) as { name?: string; code?: unknown; cause?: { code?: unknown } };
  return name !== 'NamespaceNotFoundError' && !PERMANENT.includes(cause?.code ?? code);
}
