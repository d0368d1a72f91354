import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Delivery } from '../delivery';
import type { AroundRequest } from '../partner';
import type * as OpenTelemetry from './opentelemetry';

/** The hooks of a process that is traced. Workflows have none: they only hand their trace on to activities. */
export interface Tracing {
  activityInterceptors: ActivityInterceptorsFactory[];
  clientInterceptors: WorkflowClientInterceptor[];
  /** For the partner client. */
  aroundRequest: AroundRequest[];
  /** Makes each delivery attempt a span. */
  around(delivery: Delivery): Delivery;
  /** W3C's `traceparent` of the current span, for the checkout. */
  headers(): Record<string, string>;
  /** Sends the remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

const OFF: Tracing = {
  activityInterceptors: [],
  clientInterceptors: [],
  aroundRequest: [],
  around: (delivery) => delivery,
  headers: () => ({}),
  close: async () => {},
};

/** Turns tracing on if there is an endpoint. Otherwise nothing of OpenTelemetry is loaded. @param warn the collector can't be reached */
export function startTracing(
  endpoint: string | undefined,
  service: 'worker' | 'starter',
  warn: (line: string) => void,
): Tracing {
  if (endpoint === undefined) return OFF;
  const { startOpenTelemetry } = require('./opentelemetry') as typeof OpenTelemetry;
  return startOpenTelemetry(service, warn);
}
