import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { countFromZero, histogramBuckets, type Metrics, metricsOf } from '../../contracts/metrics';
import { jsonLine, prettyLine } from './log-lines';

export interface RuntimeSettings {
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'json' | 'pretty';
  metricsAddress: { host: string; port: number };
}

/** Installs the process's one Temporal runtime: logs on stdout, metrics for Prometheus. @throws Error if the metrics address is taken */
export function installRuntime({ logLevel, logFormat, metricsAddress }: RuntimeSettings): DefaultLogger {
  const level = logLevel.toUpperCase() as Uppercase<typeof logLevel>;
  const lineOf = logFormat === 'pretty' ? prettyLine : jsonLine;
  const logger = new DefaultLogger(level, (entry) => void process.stdout.write(`${lineOf(entry)}\n`));
  const { host, port } = metricsAddress;
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  try {
    Runtime.install({ logger, telemetryOptions: telemetryAt(bindAddress) });
  } catch (error) {
    // Nothing but binding the address can fail here.
    throw new Error(`METRICS_ADDRESS ${bindAddress} can't be used: ${(error as Error).message}`, { cause: error });
  }
  return logger;
}

function telemetryAt(bindAddress: string): RuntimeOptions['telemetryOptions'] {
  return {
    logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
    metrics: {
      // The names and units of Temporal's own dashboards and alert rules.
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

/** Records metrics of the process, under the labels that the SDK adds to those of workflows. Only after `installRuntime`. */
export function processMetrics(labels: { namespace: string; taskQueue: string }): Metrics {
  const meter = Runtime.instance().metricMeter.withTags(labels);
  countFromZero(meter);
  return metricsOf(meter);
}
