/** A run of a workflow that has ended, as a trace shows it. Ids are hexadecimal, as in W3C's Trace Context. */
export interface WorkflowSpan {
  traceId: string;
  spanId: string;
  /** Of the span that started it, where that was traced. */
  parentSpanId?: string;
  workflowType: string;
  /** Epoch ms, Temporal's clock. */
  startMs: number;
  endMs: number;
  failed: boolean;
}

/** The header in which Temporal's interceptors for OpenTelemetry hand a trace on, in every language. */
export const TRACE_HEADER = '_tracer-data';
