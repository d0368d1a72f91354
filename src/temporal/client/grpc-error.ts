import { isGrpcServiceError, ServiceError } from '@temporalio/client';

/** What the server said: Temporal's own errors keep it to themselves. Undefined for any other error. */
export function grpcErrorOf(error: unknown): { code: number; details: string } | undefined {
  const said = error instanceof ServiceError ? error.cause : undefined;
  return isGrpcServiceError(said) ? { code: Number(said.code), details: said.details } : undefined;
}

/** Of gRPC. */
const UNIMPLEMENTED = 12;

/** Whether this is what the time-skipping test server says to whoever asks it for a list: it has none. */
export function hasNoLists(error: unknown): boolean {
  return grpcErrorOf(error)?.code === UNIMPLEMENTED;
}
