import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, type WorkflowExecutionDescription, type WorkflowService } from '@temporalio/client';

/** The gRPC status codes that are used here. */
export const GRPC_STATUS = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** The gRPC error, even if Temporal's client has wrapped it; undefined for any other error. */
export function grpcErrorOf(error: unknown): { code: number; details: string } | undefined {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const grpcError = [cause, error].find(isGrpcServiceError);
  return grpcError && { code: Number(grpcError.code), details: grpcError.details };
}

/** The last error in the chain of causes. Temporal's wrapper errors only say where it happened. */
export function rootCauseOf(error: Error): Error {
  return error.cause instanceof Error ? rootCauseOf(error.cause) : error;
}

/** Why the last attempt of a pending activity failed, if one did. */
export function pendingFailure(
  description: WorkflowExecutionDescription | undefined,
): { message: string; type: string | undefined } | undefined {
  for (const { lastFailure } of description?.raw.pendingActivities ?? []) {
    const { message, applicationFailureInfo } = lastFailure ?? {};
    if (message) return { message, type: applicationFailureInfo?.type ?? undefined };
  }
  return undefined;
}

/** Retries every second while an overloaded server reports its own timeouts. */
export async function retryServerTimeouts<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isServerTimeout(error)) throw error;
      await sleep(1_000);
    }
  }
}

/** Whether the server timed out. If the caller's own deadline passed, the message is different. */
function isServerTimeout(error: unknown): boolean {
  const grpcError = grpcErrorOf(error);
  return grpcError?.code === GRPC_STATUS.DEADLINE_EXCEEDED && !grpcError.details.startsWith('Deadline exceeded');
}

/** A protobuf timestamp as epoch ms; 0 for none. */
export function epochMsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}

interface Poller {
  identity?: string | null;
  lastAccessTime?: Parameters<typeof epochMsOf>[0];
}

/**
 * The pollers of a task queue: those for workflow tasks and those for activity tasks.
 * @throws ServiceError
 */
export async function listPollers(
  service: WorkflowService,
  namespace: string,
  taskQueue: string,
): Promise<[Poller[], Poller[]]> {
  const describe = async (taskQueueType: 1 | 2) =>
    (await service.describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType })).pollers ?? [];
  return Promise.all([describe(1), describe(2)]);
}
