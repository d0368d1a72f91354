import { isSafeOrderId, REFERENCE_PATTERN } from './order';

/**
 * The reference and order id in an input of any shape, if they are valid. Any client can start a workflow with any
 * input.
 */
export function safeIdsOf(input: unknown): { referenceId?: string; orderId?: string } {
  if (typeof input !== 'object' || input === null) return {};
  const { referenceId, orderId } = input as Record<string, unknown>;
  return {
    referenceId: typeof referenceId === 'string' && REFERENCE_PATTERN.test(referenceId) ? referenceId : undefined,
    orderId: typeof orderId === 'string' && isSafeOrderId(orderId) ? orderId : undefined,
  };
}

/** A UUID or a W3C trace id. */
const TRACE_ID = /^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * The partner's trace id, for logs and traces. The partner may send any text, even a key, so other formats are dropped.
 */
export function safeTraceId(traceId: string | undefined): string | undefined {
  return traceId !== undefined && TRACE_ID.test(traceId) ? traceId : undefined;
}

/** The code of an error from Node or undici, such as ECONNRESET, if it has the form of one. Safe to show. */
export function safeErrorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(code) ? code : undefined;
}

/** The class name of an error. Unlike the message it contains no data, so it is safe to show. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}
