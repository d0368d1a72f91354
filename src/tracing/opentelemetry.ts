import { type Attributes, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isDeliveryError } from '../delivery';
import { safeTraceId, safeErrorCode, safeIdsOf } from '../domain/safe-values';
import { isPartnerError } from '../partner';
import { withTimeout } from '../temporal/client';
import type { Tracing } from './index';

const NAME = 'durable-fulfilment-worker';
const FLUSH_MS = 2_000;

/** See {@link Tracing}. The exporter reads OpenTelemetry's own environment variables. */
export function startOpenTelemetry(service: 'worker' | 'starter', warn: (line: string) => void): Tracing {
  const named = new Resource({ 'service.name': `${NAME}-${service}` });
  const resource = named.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const exporter = onlySafeValues(new OTLPTraceExporter(), (error) =>
    warn(`traces can't be sent to OTEL_EXPORTER_OTLP_ENDPOINT (${safeErrorCode(error) ?? 'export failed'})`),
  );
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  provider.register();
  return {
    activityInterceptors: [
      continueTraceOfRun,
      (activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity) }),
    ],
    clientInterceptors: [new OpenTelemetryWorkflowClientInterceptor()],
    aroundRequest: [traceRequest],
    around: (sender) => ({
      deliver(event, withinMs) {
        const { type, data } = event.body;
        const attributes = { 'delivery.event_id': event.id, 'delivery.event_type': type, ...attributesOf(data) };
        return inSpan(`deliver ${type}`, attributes, () => sender.deliver(event, withinMs));
      },
      close: () => sender.close(),
    }),
    headers() {
      const carrier: Record<string, string> = {};
      propagation.inject(context.active(), carrier);
      return carrier;
    },
    close: () => withTimeout(FLUSH_MS, provider.shutdown()).catch(() => undefined),
  };
}

/** If the start of a run was not traced, the run gets its own trace. Every worker derives its id from the run id. */
const continueTraceOfRun: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const traceId = (info.workflowExecution?.runId ?? '').replaceAll('-', '');
      const ofRun = { traceId, spanId: traceId.slice(16), traceFlags: 1, isRemote: true };
      return context.with(trace.setSpanContext(context.active(), ofRun), () => next(input));
    },
  },
});

const traceRequest: Tracing['aroundRequest'][number] = ({ operation, ...about }, request) =>
  inSpan(`partner ${operation}`, { 'partner.operation': operation, ...attributesOf(about) }, async (span) => {
    const response = await request();
    span.setAttributes({ 'partner.trace_id': safeTraceId(response.traceId) });
    return response;
  });

/** Runs the work in a child span of the current one. */
function inSpan<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T> {
  return trace.getTracer(NAME).startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR }).setAttributes(attributesOfError(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

function attributesOf(input: unknown): Attributes {
  const { referenceId, orderId } = safeIdsOf(input);
  return { 'purchase.reference': referenceId, 'purchase.order_id': orderId };
}

function attributesOfError(error: unknown): Attributes {
  if (!isPartnerError(error) && !isDeliveryError(error)) return {};
  const traceId = isPartnerError(error) ? safeTraceId(error.traceId) : undefined;
  return { 'error.type': error.kind, 'http.response.status_code': error.httpStatus, 'partner.trace_id': traceId };
}

/** The only attributes that leave the process. Others may contain a stack trace or the partner's text. */
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
 * Sends only names, times, ids and the attributes above.
 * @param onFailure called on the first of consecutive failures
 */
function onlySafeValues(exporter: SpanExporter, onFailure: (error: Error | undefined) => void): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans.map(withSafeValues), (result) => {
        if (result.error && !failing) onFailure(result.error);
        failing = result.error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Drops events and status texts, because they contain error messages and stack traces. */
function withSafeValues(span: ReadableSpan): ReadableSpan {
  const attributes = Object.fromEntries(Object.entries(span.attributes).filter(([name]) => PRESENTABLE.has(name)));
  const hidden = { status: { code: span.status.code }, events: [], links: [] };
  return Object.assign(Object.create(span) as ReadableSpan, { attributes, ...hidden });
}
