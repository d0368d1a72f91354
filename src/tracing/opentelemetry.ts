import { type Attributes, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { type Delivery, isDeliveryError } from '../delivery';
import { presentableTraceId, safeErrorCode, subjectOf } from '../domain/presentable';
import { isPartnerError } from '../partner';
import { withinMs } from '../temporal/client';
import type { Tracing } from './index';
import { presentableOnly } from './presentable-span';

const NAME = 'durable-fulfilment-worker';
const FLUSH_MS = 2_000;

/** See {@link Tracing}. The exporter reads OpenTelemetry's own variables: endpoint, headers, timeout. */
export function startOpenTelemetry(service: 'worker' | 'starter', warn: (line: string) => void): Tracing {
  const named = new Resource({ 'service.name': `${NAME}-${service}` });
  const resource = named.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const exporter = presentableOnly(new OTLPTraceExporter(), (error) =>
    warn(`traces can't be sent to OTEL_EXPORTER_OTLP_ENDPOINT (${safeErrorCode(error) ?? 'no success'})`),
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
    around: (delivery) => ({
      deliver: (event, deadline) => traceDelivery(event, () => delivery.deliver(event, deadline)),
      close: () => delivery.close(),
    }),
    headers() {
      const carrier: Record<string, string> = {};
      propagation.inject(context.active(), carrier);
      return carrier;
    },
    close: () => withinMs(FLUSH_MS, provider.shutdown()).catch(() => undefined),
  };
}

/** A run whose start was not traced is a trace of its own, with an id that every worker derives from the run's. */
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
    const answer = await request();
    span.setAttributes({ 'partner.trace_id': presentableTraceId(answer.traceId) });
    return answer;
  });

function traceDelivery(
  { id, body }: Parameters<Delivery['deliver']>[0],
  deliver: () => Promise<boolean>,
): Promise<boolean> {
  const attributes = { 'delivery.event_id': id, 'delivery.event_type': body.type, ...attributesOf(body.data) };
  return inSpan(`deliver ${body.type}`, attributes, deliver);
}

/** Runs the work in a span, as a child of the current one. */
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
  const { referenceId, orderId } = subjectOf(input);
  return { 'purchase.reference': referenceId, 'purchase.order_id': orderId };
}

function attributesOfError(error: unknown): Attributes {
  if (!isPartnerError(error) && !isDeliveryError(error)) return {};
  const traceId = isPartnerError(error) ? presentableTraceId(error.traceId) : undefined;
  return { 'error.type': error.kind, 'http.response.status_code': error.httpStatus, 'partner.trace_id': traceId };
}
