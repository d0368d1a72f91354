import type { Environment } from './read';

/** Whether OTEL_EXPORTER_OTLP_ENDPOINT is set, for those who then read the configuration, and else do without it. */
export function isTracingSet(env: Environment = process.env): boolean {
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT);
}
