import { type Attributes, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client';
import type { WorkflowSpan } from '../contracts/workflow-span';
import { safeErrorCode } from '../domain/error-code';
import { presentableTraceId, subjectOf } from '../domain/subject';
import { isDeliveryError } from '../delivery';
import { isPartnerError } from '../partner';
import type { Tracing } from './index';
import { presentableOnly } from './presentable-span';

const NAME = 'durable-fulfilment-worker';
const FLUSH_MS = 2_000;

/** See {@link Tracing}. The exporter itself reads OpenTelemetry's variables: endpoint, headers, timeout. */
export function startOpenTelemetry(service: 'worker' | 'starter', warn: (line: string) => void): Tracing {
  const named = new Resource({ 'service.name': `${NAME}-${service}` });
  const resource = named.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const exporter = presentableOnly(new OTLPTraceExporter(), (error) =>
    warn(`traces can't be sent to OTEL_EXPORTER_OTLP_ENDPOINT (${safeErrorCode(error) ?? 'no success'})`),
  );
  const processor = new BatchSpanProcessor(exporter);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.register();
  return {
    workflowBundle: 'workflow-bundle-traced.js',
    activityInterceptors: [
      (activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity) }),
      () => ({ inbound: nameSubject }),
    ],
    clientInterceptors: [new OpenTelemetryWorkflowClientInterceptor()],
    sinks: {
      tracing: {
        workflowEnded: {
          fn: ({ workflowId, runId }, span) => processor.onEnd(spanOfWorkflow(span, { workflowId, runId }, resource)),
        },
      },
    },
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
    close: () => withinMs(FLUSH_MS, provider.shutdown()),
  };
}

/** The span is the SDK's; what it is about, only we know. */
const nameSubject = {
  execute<Input extends { args: unknown[] }>(input: Input, next: (input: Input) => Promise<unknown>) {
    const { referenceId, orderId } = subjectOf(input.args[0]);
    trace.getActiveSpan()?.setAttributes(known({ 'purchase.reference': referenceId, 'purchase.order_id': orderId }));
    return next(input);
  },
};

const traceRequest: Tracing['aroundRequest'][number] = ({ operation, referenceId, orderId }, request) =>
  inSpan(
    `partner ${operation}`,
    { 'partner.operation': operation, 'purchase.reference': referenceId, 'purchase.order_id': orderId },
    async (span) => {
      try {
        const answer = await request();
        span.setAttributes(known({ 'partner.trace_id': presentableTraceId(answer.traceId) }));
        return answer;
      } catch (error) {
        if (isPartnerError(error)) {
          const { kind, httpStatus, traceId } = error;
          const said = { 'http.response.status_code': httpStatus, 'partner.trace_id': presentableTraceId(traceId) };
          span.setAttributes(known({ 'error.type': kind, ...said }));
        }
        throw error;
      }
    },
  );

function traceDelivery(
  { id, body }: Parameters<ReturnType<Tracing['around']>['deliver']>[0],
  deliver: () => Promise<boolean>,
): Promise<boolean> {
  const { referenceId, orderId } = subjectOf(body.data);
  const about = { 'purchase.reference': referenceId, 'purchase.order_id': orderId };
  return inSpan(
    `deliver ${body.type}`,
    { 'delivery.event_id': id, 'delivery.event_type': body.type, ...about },
    async (span) => {
      try {
        return await deliver();
      } catch (error) {
        if (isDeliveryError(error)) {
          span.setAttributes(known({ 'error.type': error.kind, 'http.response.status_code': error.httpStatus }));
        }
        throw error;
      }
    },
  );
}

/** A child of what is being done now. */
async function inSpan<T>(
  name: string,
  attributes: Record<string, string | undefined>,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const options = { kind: SpanKind.CLIENT, attributes: known(attributes) };
  return trace.getTracer(NAME).startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

function known(attributes: Record<string, string | number | undefined>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The workflow itself creates no spans: it says what its span is, and only at the end. */
function spanOfWorkflow(
  { traceId, spanId, parentSpanId, workflowType, startMs, endMs, failed }: WorkflowSpan,
  { workflowId, runId }: { workflowId: string; runId: string },
  resource: Resource,
): ReadableSpan {
  return {
    name: `RunWorkflow:${workflowType}`,
    kind: SpanKind.INTERNAL,
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    parentSpanId,
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    ended: true,
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { temporalWorkflowId: workflowId, run_id: runId },
    links: [],
    events: [],
    resource,
    instrumentationLibrary: { name: NAME },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(ms: number): [number, number] {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
}

/** A collector that is away must not hold up the end of a process. */
async function withinMs(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}
