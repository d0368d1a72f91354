import { DefaultLogger, type LogEntry, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { referenceOfWorkflow } from '../../contracts/names';
import { histogramBuckets } from '../../contracts/record-metrics';

export interface RuntimeSettings {
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'json' | 'pretty';
  metricsAddress: { host: string; port: number };
}

/**
 * Installs the process's one Temporal runtime: logs on stdout, metrics for Prometheus.
 *
 * @throws Error when the metrics address is taken; the message says which variable to change.
 */
export function installRuntime(settings: RuntimeSettings): DefaultLogger {
  const level = settings.logLevel.toUpperCase() as Uppercase<RuntimeSettings['logLevel']>;
  const logger = new DefaultLogger(level, settings.logFormat === 'pretty' ? writePretty : writeJson);
  const { host, port } = settings.metricsAddress;
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  try {
    Runtime.install({ logger, telemetryOptions: telemetryAt(bindAddress) });
  } catch (error) {
    // It binds the address, which is all that can fail here.
    throw new Error(`METRICS_ADDRESS ${bindAddress} can't be used: ${(error as Error).message}`, { cause: error });
  }
  return logger;
}

function telemetryAt(bindAddress: string): RuntimeOptions['telemetryOptions'] {
  return {
    logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
    metrics: {
      // The names and units that Temporal's own dashboards and alert rules ask for.
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

function writeJson(entry: LogEntry): void {
  const line = {
    time: timeOf(entry),
    level: entry.level.toLowerCase(),
    message: entry.message,
    ...attributesOf(entry),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function writePretty(entry: LogEntry): void {
  const rest = Object.entries(attributesOf(entry)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  process.stdout.write(`${timeOf(entry).slice(11, 23)} ${entry.level.padEnd(5)} ${entry.message} ${rest.join(' ')}\n`);
}

function timeOf(entry: LogEntry): string {
  return new Date(Number(entry.timestampNanos / 1_000_000n)).toISOString();
}

/** Lines of the SDK itself name the workflow only; a delivery after the end may have an id that is made of its event's. */
function attributesOf({ meta }: LogEntry): Record<string, unknown> {
  const attributes = plain(meta);
  const { workflowId } = attributes;
  const referenceId = typeof workflowId === 'string' ? referenceOfWorkflow(workflowId) : undefined;
  return referenceId === undefined ? attributes : { referenceId, ...attributes };
}

/** An error becomes its name and message: a stack or a cause may carry text that isn't ours. */
function plain(meta: Record<string | symbol, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(meta).map(([name, value]) => [
      name,
      value instanceof Error ? `${value.name}: ${value.message}` : typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
