import { AsyncLocalStorage } from 'node:async_hooks';
import { type AroundRequest, isPartnerError } from '../partner';
import { safeTraceId, safeIdsOf } from '../domain/safe-values';

/** Added to every log line of an activity. */
interface LineAttributes extends Record<string, unknown> {
  referenceId?: string;
  orderId?: string;
  /** The trace id of the partner's last response, which the partner's support needs. */
  partnerTraceId?: string;
}

/** Adds the reference, the order id and the partner's trace id to every line that is logged during an activity. */
export function createLogContext() {
  const current = new AsyncLocalStorage<LineAttributes>();
  return {
    /** For the worker's option `interceptors.activity`. */
    interceptor() {
      const attributes: LineAttributes = {};
      return {
        inbound: {
          execute<Input extends { args: unknown[] }>(input: Input, next: (input: Input) => Promise<unknown>) {
            Object.assign(attributes, safeIdsOf(input.args[0]));
            return current.run(attributes, () => next(input));
          },
        },
        outbound: {
          getLogAttributes(before: Record<string, unknown>, next: (all: Record<string, unknown>) => LineAttributes) {
            return next({ ...before, ...attributes });
          },
        },
      };
    },
    /** For the partner client's option `around`. */
    aroundRequest: (async (_, request) => {
      const attributes = current.getStore();
      const note = (traceId: string | undefined) => {
        if (attributes) attributes.partnerTraceId = safeTraceId(traceId);
      };
      try {
        const response = await request();
        note(response.traceId);
        return response;
      } catch (error) {
        if (isPartnerError(error)) note(error.traceId);
        throw error;
      }
    }) satisfies AroundRequest as AroundRequest,
  };
}
