import { DefaultLogger, type LogEntry, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { referenceOfWorkflow } from '../../contracts/names';
import { countFromZero, histogramBuckets, type Metrics, metricsOf } from '../../contracts/metrics';

export interface RuntimeSettings {
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'json' | 'pretty';
  metricsAddress: { host: string; port: number };
}

/**
 * Installs the Temporal runtime: logs on stdout, metrics for Prometheus. @throws Error if METRICS_ADDRESS can't be used
 */
export function installRuntime({ logLevel, logFormat, metricsAddress }: RuntimeSettings): DefaultLogger {
  const level = logLevel.toUpperCase() as Uppercase<typeof logLevel>;
  const logger = new DefaultLogger(level, logFormat === 'pretty' ? writePretty : writeJson);
  const { host, port } = metricsAddress;
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  try {
    Runtime.install({ logger, telemetryOptions: telemetryAt(bindAddress) });
  } catch (error) {
    // Only binding the address can fail here.
    throw new Error(`METRICS_ADDRESS ${bindAddress} can't be used: ${(error as Error).message}`, { cause: error });
  }
  return logger;
}

function telemetryAt(bindAddress: string): RuntimeOptions['telemetryOptions'] {
  return {
    logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
    metrics: {
      // The names and units that Temporal's own dashboards and alert rules expect.
      prometheus: {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
        histogramBucketOverrides: histogramBuckets(),
      },
    },
  };
}

/** Metrics of the process, with the labels that the SDK adds to workflow metrics. Call `installRuntime` first. */
export function processMetrics(labels: { namespace: string; taskQueue: string }): Metrics {
  const meter = Runtime.instance().metricMeter.withTags(labels);
  countFromZero(meter);
  return metricsOf(meter);
}

function writeJson(entry: LogEntry): void {
  const line = { time: timeOf(entry), level: entry.level.toLowerCase(), message: entry.message };
  process.stdout.write(`${JSON.stringify({ ...line, ...attributesOf(entry) })}\n`);
}

function writePretty(entry: LogEntry): void {
  const rest = Object.entries(attributesOf(entry)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  process.stdout.write(`${timeOf(entry).slice(11, 23)} ${entry.level.padEnd(5)} ${entry.message} ${rest.join(' ')}\n`);
}

function timeOf(entry: LogEntry): string {
  return new Date(Number(entry.timestampNanos / 1_000_000n)).toISOString();
}

/**
 * Adds the reference to the SDK's lines. An error becomes name and message; a stack or cause may contain other text.
 */
function attributesOf({ meta = {} }: LogEntry): Record<string, unknown> {
  const { workflowId } = meta;
  const referenceId = typeof workflowId === 'string' ? referenceOfWorkflow(workflowId) : undefined;
  const plain = (value: unknown) => {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    return typeof value === 'bigint' ? String(value) : value;
  };
  const attributes = Object.entries(meta).map(([name, value]) => [name, plain(value)]);
  return { ...(referenceId === undefined ? {} : { referenceId }), ...Object.fromEntries(attributes) };
}
