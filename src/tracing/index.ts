import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { EventSender } from '../delivery';
import type { AroundRequest } from '../partner';
import type * as OpenTelemetry from './opentelemetry';

/** The tracing hooks of a process. Workflows have none: they only pass their trace on to activities. */
export interface Tracing {
  activityInterceptors: ActivityInterceptorsFactory[];
  clientInterceptors: WorkflowClientInterceptor[];
  /** For the partner client. */
  aroundRequest: AroundRequest[];
  /** Wraps each delivery attempt in a span. */
  around(eventSender: EventSender): EventSender;
  /** The W3C `traceparent` of the current span, for the checkout. */
  headers(): Record<string, string>;
  /** Sends the remaining spans within two seconds. */
  close(): Promise<void>;
}

const OFF: Tracing = {
  activityInterceptors: [],
  clientInterceptors: [],
  aroundRequest: [],
  around: (sender) => sender,
  headers: () => ({}),
  close: async () => {},
};

/**
 * Turns tracing on if an endpoint is set. Otherwise OpenTelemetry is not loaded.
 * @param warn reports failed exports
 */
export function startTracing(
  endpoint: string | undefined,
  service: 'worker' | 'starter',
  warn: (line: string) => void,
): Tracing {
  if (endpoint === undefined) return OFF;
  const { startOpenTelemetry } = require('./opentelemetry') as typeof OpenTelemetry;
  return startOpenTelemetry(service, warn);
}
