import type { Payload } from '@temporalio/common';
import { setDefaultQueryHandler, upsertMemo, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { payloadConverter } from '../contracts/payload-converter';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../contracts/search-attributes';

/**
 * Part of every workflow bundle, so turning tracing on or off never changes what a workflow does. The SDK's own
 * interceptors would change the order of commands; see docs/decisions/5-dependencies.md.
 */
export function interceptors(): WorkflowInterceptors {
  let trace: Headers = {};
  const withTrace = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          trace = traceIn(input.headers);
          dropLargeMemo();
          setDefaultQueryHandler(refuseQuery);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        getLogAttributes(input, next) {
          const { typedSearchAttributes: attributes } = workflowInfo();
          const referenceId = attributes.get(REFERENCE_ID);
          return next({ ...input, referenceId, orderId: attributes.get(PARTNER_ORDER_ID) });
        },
      },
    ],
  };
}

/** The most characters in the memo of a start. The server terminates a workflow whose memo exceeds 2 MB. */
const MAX_MEMO_LENGTH = 100_000;

function dropLargeMemo(): void {
  const { memo = {} } = workflowInfo();
  if (JSON.stringify(memo).length <= MAX_MEMO_LENGTH) return;
  upsertMemo(Object.fromEntries(Object.keys(memo).map((name) => [name, null])));
}

/**
 * The SDK's own error quotes the name of the query. If the name is huge, the server rejects the response, and the
 * worker retries for a minute.
 */
function refuseQuery(): never {
  throw new Error('no such query');
}

type Headers = Record<string, Payload>;

/** The header of Temporal's OpenTelemetry interceptors in every language: W3C trace context as JSON. */
const TRACE_HEADER = '_tracer-data';

/**
 * The trace of the start, for the activities. A client can send any header, so only a valid `traceparent` is used.
 */
function traceIn(headers: Headers): Headers {
  const payload = headers[TRACE_HEADER];
  const carrier = payload && payloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload);
  const traceparent = String(carrier?.traceparent);
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)) return {};
  return { [TRACE_HEADER]: payloadConverter.toPayload({ traceparent }) };
}
