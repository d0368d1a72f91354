#!/usr/bin/env node
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { type Logger, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities, createCircuitBreaker, createHistoryWatch, createLogContext } from './activities';
import { envFileAdvice, loadEnvFile, readWorkerConfig, scrubSecrets, type WorkerConfig } from './config';
import { createEventSender, createFingerprinter } from './delivery';
import { exitWith, stopSignal } from './exit';
import { observePartner, refreshGauges } from './metrics';
import { createPartnerClient } from './partner';
import {
  createClient,
  createPurchaseReader,
  readTemporalTarget,
  requireSearchAttributes,
  TemporalConfigError,
} from './temporal/client';
import {
  capacityFor,
  connectWorker,
  installRuntime,
  processMetrics,
  readinessOf,
  runWorker,
  startHealthServer,
  thisMachine,
  versioningOf,
} from './temporal/worker';
import { startTracing, type Tracing } from './tracing';
import { circuitBreakerDelays, connectRetry, shutdownOptions, workflowCodeOptions } from './workflows/policies';

/**
 * Reads the configuration, connects, builds the parts, runs until the process is told to stop, and closes everything.
 */
async function main(): Promise<void> {
  // A full disk or a closed pipe must not crash the worker.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let logger: Logger | undefined;
  // The logger exists once the configuration has been read.
  const warn = (line: string) => (logger ? logger.warn(line) : void process.stderr.write(`${line}\n`));
  if (process.argv.length > 2) throw new ArgumentError();
  loadEnvFile();
  const config = readWorkerConfig(process.env, {
    terminal: process.stdout.isTTY,
    tryFolders: true,
    onProblem: warn,
  });
  const target = readTemporalTarget(process.env, config);
  const tracing = startTracing(config.tracingEndpoint, 'worker', warn);
  scrubSecrets();
  logger = installRuntime(config);

  let worker: Worker | undefined;
  const stopping = stopSignal();
  const health = await startHealthServer(
    config.healthAddress,
    readinessOf(() => worker),
  );
  const { namespace } = target;
  const { taskQueue } = config;
  const connection = await connectWorker(target, { ...connectRetry, onRetry: warn, signal: stopping });
  await requireSearchAttributes(connection, namespace);

  const client = createClient(connection, namespace);
  const { partner, eventSender, metrics, options } = createParts(config, { client, tracing, stopping, logger });
  const capacity = capacityFor(thisMachine());
  worker = await Worker.create({ connection, ...options, ...capacity });
  partner.listOrders({ limit: 1 }).catch((error: Error) => warn(`the partner can't be used: ${error.message}`));
  void refreshGauges({ client, partner, taskQueue, metrics, warn, signal: stopping });
  logger.info('worker ready', { taskQueue, health: health.address, ...capacity });

  await runWorker(worker).catch(async (error: unknown) => {
    // If the server refuses the API key, the SDK gives up after two minutes with an unrelated error.
    const ask = () => requireSearchAttributes(connection, namespace);
    const reason: unknown = await connection.withDeadline(Date.now() + 5_000, ask).catch((refusal: unknown) => refusal);
    throw reason instanceof TemporalConfigError ? reason : error;
  });
  await Promise.all([health.close(), partner.close(), eventSender.close(), tracing.close()]);
  await connection.close();
}

interface Shared {
  client: Client;
  tracing: Tracing;
  /** Aborts when the process is told to stop. */
  stopping: AbortSignal;
  logger: Logger;
}

/** Builds the parts of a worker, connected to logs, metrics and traces. */
function createParts(config: WorkerConfig, { client, tracing, stopping, logger }: Shared) {
  const { taskQueue } = config;
  const { namespace } = client.options;
  const metrics = processMetrics({ namespace, taskQueue });
  const logContext = createLogContext();
  const around = [logContext.aroundRequest, ...tracing.aroundRequest];
  const partner = createPartnerClient({ ...config.partner, observer: observePartner(metrics), around });
  const showCircuit = (reason: string | undefined) => {
    metrics.set('fulfilment_circuit_breaker_open', reason === undefined ? 0 : 1, {});
    if (reason === undefined) logger.info('circuit breaker closed: the partner accepts orders again');
    else
      logger.warn('circuit breaker open: new placements are paused, because the partner accepts no orders', { reason });
  };
  metrics.set('fulfilment_circuit_breaker_open', 0, {});
  const eventSender = tracing.around(createEventSender(config.delivery, tracing.headers));
  const options: WorkerOptions = {
    namespace,
    taskQueue,
    workflowBundle: { codePath: join(__dirname, 'workflow-bundle.js') },
    interceptors: { activity: [logContext.interceptor, ...tracing.activityInterceptors] },
    activities: createActivities({
      client,
      partner,
      eventSender,
      purchases: createPurchaseReader(client),
      fingerprints: createFingerprinter(config.fingerprintSecrets),
      settings: config.purchase,
      circuitBreaker: createCircuitBreaker({ ...circuitBreakerDelays(config.purchase), onChange: showCircuit }),
      historyWatch: createHistoryWatch(partner, stopping),
      reportDir: config.reportDir,
      temporalUiUrl: config.temporalUiUrl,
      metrics,
      now: Date.now,
    }),
    workerDeploymentOptions: versioningOf(config.deploymentVersion),
    ...workflowCodeOptions,
    ...shutdownOptions(config.purchase),
  };
  return { partner, eventSender, metrics, options };
}

/** `--help` must not start a worker, which would begin to buy. */
class ArgumentError extends Error {
  readonly exitCode = 2;

  constructor() {
    super(
      'Usage: node dist/worker.js\nIt takes no arguments. Environment variables and .env configure it: docs/reference/configuration.md',
    );
  }
}

main().catch((error: unknown) => exitWith(error, envFileAdvice(error)));
