import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

/** What a span may say. Everything else stays here: an exception's message, a stack, a text of the partner. */
const PRESENTABLE: ReadonlySet<string> = new Set([
  'temporalWorkflowId',
  'temporalActivityId',
  'temporalUpdateId',
  'run_id',
  'purchase.reference',
  'purchase.order_id',
  'partner.operation',
  'partner.trace_id',
  'delivery.event_id',
  'delivery.event_type',
  'http.response.status_code',
  'error.type',
]);

/**
 * An exporter that hands on names, times, ids and the attributes above, whoever made the span.
 *
 * @param onFailure called when spans can't be sent, and again only after some could.
 */
export function presentableOnly(exporter: SpanExporter, onFailure: (error: Error | undefined) => void): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans.map(presentable), (result) => {
        if (result.error && !failing) onFailure(result.error);
        failing = result.error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

function presentable(span: ReadableSpan): ReadableSpan {
  const attributes = Object.fromEntries(Object.entries(span.attributes).filter(([name]) => PRESENTABLE.has(name)));
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    parentSpanId: span.parentSpanId,
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    ended: span.ended,
    status: { code: span.status.code },
    attributes,
    links: [],
    events: [],
    resource: span.resource,
    instrumentationLibrary: span.instrumentationLibrary,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}
