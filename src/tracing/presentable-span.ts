import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

/** The attributes that may leave the process. No other does, because it may hold a stack or a text of the partner. */
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
 * Wraps an exporter so that it sends names, times, ids and the attributes above, whatever made the span.
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
  };
}

/** Events and the text of a status hold the messages and stacks of errors. */
function presentable(span: ReadableSpan): ReadableSpan {
  const attributes = Object.fromEntries(Object.entries(span.attributes).filter(([name]) => PRESENTABLE.has(name)));
  const hidden = { status: { code: span.status.code }, events: [], links: [] };
  return Object.assign(Object.create(span) as ReadableSpan, { attributes, ...hidden });
}
