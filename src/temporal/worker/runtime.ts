import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { countFromZero, histogramBuckets, type Metrics, metricsOf } from '../../contracts/metrics';
import { AddressError } from './address-error';
import { jsonLine, prettyLine } from './log-lines';

export interface RuntimeSettings {
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'json' | 'pretty';
  metricsAddress: { host: string; port: number };
}

/**
 * Installs the Temporal runtime: logs on stdout, metrics for Prometheus.
 * @throws AddressError if METRICS_ADDRESS can't be used
 */
export function installRuntime({ logLevel, logFormat, metricsAddress }: RuntimeSettings): DefaultLogger {
  const level = logLevel.toUpperCase() as Uppercase<typeof logLevel>;
  const lineOf = logFormat === 'pretty' ? prettyLine : jsonLine;
  const logger = new DefaultLogger(level, (entry) => void process.stdout.write(`${lineOf(entry)}\n`));
  const { host, port } = metricsAddress;
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  try {
    Runtime.install({ logger, telemetryOptions: telemetryAt(bindAddress) });
  } catch (error) {
    // Only binding the address can fail here.
    throw new AddressError('METRICS_ADDRESS', bindAddress, (error as Error).message);
  }
  return logger;
}

function telemetryAt(bindAddress: string): RuntimeOptions['telemetryOptions'] {
  return {
    logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
    metrics: {
      // These names and units are what Temporal's own dashboards and alert rules expect.
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

/** The metrics of the process, with the labels that the SDK adds to workflow metrics. Call `installRuntime` first. */
export function processMetrics(labels: { namespace: string; taskQueue: string }): Metrics {
  const meter = Runtime.instance().metricMeter.withTags(labels);
  countFromZero(meter);
  return metricsOf(meter);
}
