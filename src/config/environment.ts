import type { Environment } from './read';

/*
 * What the starter's commands need to know of the environment before they load the configuration, and often without loading it.
 */

/** Whether OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export function isTracingSet(env: Environment = process.env): boolean {
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

/** Whether the key to Temporal is in a file, which Temporal's own convention does not know. */
export function isTemporalKeyInFile(env: Environment = process.env): boolean {
  return Boolean(env.TEMPORAL_API_KEY_FILE);
}

/** The variables of Temporal's own convention, and all others: who reads them knows which. */
export function environment(): Environment {
  return process.env;
}
