import { isGrpcServiceError } from '@temporalio/client';

/** Those of gRPC's status codes that are told apart here. */
export const GRPC_STATUS = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/**
 * What the server said, whether or not Temporal's client has wrapped it: its own errors keep that to themselves.
 *
 * @returns undefined for any other error.
 */
export function grpcErrorOf(error: unknown): { code: number; details: string } | undefined {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const said = [cause, error].find(isGrpcServiceError);
  return said && { code: Number(said.code), details: said.details };
}

/** Whether this is what the time-skipping test server says to whoever asks it for a list: it has none. */
export function hasNoLists(error: unknown): boolean {
  return grpcErrorOf(error)?.code === GRPC_STATUS.UNIMPLEMENTED;
}
