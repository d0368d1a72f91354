import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { proxySinks, type Sinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { TRACE_HEADER, type WorkflowSpan } from '../contracts/workflow-span';

/*
 * Only in the bundle of a worker that traces. The SDK's own interceptors for workflows create spans inside the workflow: they
 * bring 1.7 million characters into the bundle, and they yield where the workflow itself does not, so that 7 of 23 recorded
 * histories no longer replayed. These add a header to activities, synchronously, and say at the end of a run that it has ended.
 */

/** What a worker that traces offers to its workflows. */
export interface TracingSinks extends Sinks {
  tracing: { workflowEnded(span: WorkflowSpan): void };
}

interface TraceContext {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  /** As in the header `traceparent`: `01` where the trace is recorded. */
  flags: string;
}

type Headers = Record<string, Payload>;

/** One set for each run of a workflow. */
export function interceptors(): WorkflowInterceptors {
  const { tracing } = proxySinks<TracingSinks>();
  let trace: TraceContext | undefined;
  const withTrace = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: trace ? { ...input.headers, [TRACE_HEADER]: headerOf(trace) } : input.headers,
  });
  return {
    inbound: [
      {
        execute(input, next) {
          trace = traceOf(input.headers, workflowInfo().runId);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        // Not continueAsNew: each run of the watcher is a trace of its own, or it would be one without an end.
      },
    ],
    internals: [
      {
        concludeActivation(input, next) {
          const end = input.commands.find((command) => ENDS.some((kind) => command[kind]));
          if (end && trace?.flags === RECORDED)
            tracing.workflowEnded(spanOf(trace, Boolean(end.failWorkflowExecution)));
          return next(input);
        },
      },
    ],
  };
}

const ENDS = [
  'completeWorkflowExecution',
  'failWorkflowExecution',
  'cancelWorkflowExecution',
  'continueAsNewWorkflowExecution',
] as const;

const RECORDED = '01';

/** Ids are made of the run's own: nothing random, and the same in each worker that runs a part of it. */
function traceOf(headers: Headers, runId: string): TraceContext {
  const ownId = runId.replaceAll('-', '');
  const spanId = ownId.slice(16);
  const [, traceId = ownId, parentSpanId, flags = RECORDED] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparentIn(headers)) ?? [];
  return { traceId, spanId, parentSpanId, flags };
}

function traceparentIn(headers: Headers): string {
  const payload = headers[TRACE_HEADER];
  if (!payload) return '';
  try {
    const carrier = defaultPayloadConverter.fromPayload<{ traceparent?: unknown }>(payload);
    return String(carrier?.traceparent);
  } catch {
    // Whoever started it put something else there.
    return '';
  }
}

function headerOf({ traceId, spanId, flags }: TraceContext): Payload {
  return defaultPayloadConverter.toPayload({ traceparent: `00-${traceId}-${spanId}-${flags}` });
}

function spanOf({ traceId, spanId, parentSpanId }: TraceContext, failed: boolean): WorkflowSpan {
  const { workflowType, runStartTime } = workflowInfo();
  return { traceId, spanId, parentSpanId, workflowType, startMs: runStartTime.getTime(), endMs: Date.now(), failed };
}
