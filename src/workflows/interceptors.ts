import type { Payload } from '@temporalio/common';
import { setDefaultQueryHandler, upsertMemo, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { payloadConverter } from '../contracts/payload-converter';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../contracts/search-attributes';

/**
 * Part of every workflow bundle, traced or not, so turning tracing on or off never changes what a workflow does. The SDK's own
 * interceptors would: they change the order of commands, see docs/decisions/6-dependencies.md.
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

/** The most characters of the memo of a start. The server ends a workflow whose memo grows beyond 2 MB, and ours needs half of them. */
const LARGEST_MEMO = 100_000;

function dropLargeMemo(): void {
  const { memo = {} } = workflowInfo();
  if (JSON.stringify(memo).length <= LARGEST_MEMO) return;
  upsertMemo(Object.fromEntries(Object.keys(memo).map((name) => [name, null])));
}

/** The SDK's own refusal quotes the name. Temporal refuses one that is too large, and the worker tries that for a minute, alone. */
function refuseQuery(): never {
  throw new Error('there is no such query');
}

type Headers = Record<string, Payload>;

/** The header of Temporal's OpenTelemetry interceptors, in every language: W3C trace context as JSON. */
const TRACE_HEADER = '_tracer-data';

/** The trace of a start, for the activities. A client can put anything there: only a `traceparent` is handed on. */
function traceIn(headers: Headers): Headers {
  const payload = headers[TRACE_HEADER];
  const carrier = payload && payloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload);
  const traceparent = String(carrier?.traceparent);
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)) return {};
  return { [TRACE_HEADER]: payloadConverter.toPayload({ traceparent }) };
}
