import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Delivery } from '../delivery';
import type { AroundRequest } from '../partner';
import type { TracingSinks } from '../workflows/tracing';
import type * as OpenTelemetry from './opentelemetry';

/** What a process does to be traced. */
export interface Tracing {
  /** The file of the workflow bundle that a worker needs. */
  workflowBundle: string;
  activityInterceptors: ActivityInterceptorsFactory[];
  clientInterceptors: WorkflowClientInterceptor[];
  sinks?: InjectedSinks<TracingSinks>;
  /** For the partner client. */
  aroundRequest: AroundRequest[];
  /** Makes each attempt at an event a span. */
  around(delivery: Delivery): Delivery;
  /** W3C's `traceparent` of what is being done now, for the checkout. */
  headers(): Record<string, string>;
  /** Sends what is left, for two seconds at the most. */
  close(): Promise<void>;
}

/** Each is loaded only where it is used. */
const loadOpenTelemetry = () => require('./opentelemetry') as typeof OpenTelemetry;

const OFF: Tracing = {
  workflowBundle: 'workflow-bundle.js',
  activityInterceptors: [],
  clientInterceptors: [],
  aroundRequest: [],
  around: (delivery) => delivery,
  headers: () => ({}),
  close: async () => {},
};

/**
 * Turns tracing on where there is a collector to send to. Without one nothing of OpenTelemetry is loaded.
 *
 * @param endpoint OTEL_EXPORTER_OTLP_ENDPOINT: the base URL of a collector that speaks OTLP over HTTP.
 * @param service how this process is called, unless OTEL_SERVICE_NAME says otherwise.
 * @param warn called when the collector can't be reached any more.
 */
export function startTracing(
  endpoint: string | undefined,
  service: 'worker' | 'starter',
  warn: (line: string) => void,
): Tracing {
  return endpoint === undefined ? OFF : loadOpenTelemetry().startOpenTelemetry(service, warn);
}
