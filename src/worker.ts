#!/usr/bin/env node
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createAllActivities, createBrake, createLogContext } from './activities';
import { readWorkerConfig, scrubSecrets, type WorkerConfig } from './config';
import { createDelivery, createFingerprinter } from './delivery';
import { exitWith, stopSignal } from './exit';
import { keepGauges, observePartner } from './metrics';
import { createPartnerClient } from './partner';
import { createPurchaseReader, readTemporalTarget, requireSearchAttributes, keepWatching } from './temporal/client';
import {
  capacityOptions,
  connectWorker,
  installRuntime,
  processMetrics,
  readinessOf,
  startHealthServer,
  versioningOf,
} from './temporal/worker';
import { startTracing, type Tracing } from './tracing';
import { connectRetry, shutdownOptions } from './workflows/policies';

/** Reads the configuration, connects, builds the parts, runs until the process is asked to stop, and closes the parts. */
async function main(): Promise<void> {
  const config = readWorkerConfig(process.env, { terminal: process.stdout.isTTY, tryFolders: true });
  const target = readTemporalTarget();
  const tracing = startTracing(config.tracingEndpoint, 'worker');
  scrubSecrets();
  const logger = installRuntime(config);
  const warn = (line: string) => logger.warn(line);

  let worker: Worker | undefined;
  const stopping = stopSignal();
  const readiness = readinessOf(() => worker);
  const health = await startHealthServer(config.healthAddress, readiness);
  const { namespace } = target;
  const connection = await connectWorker(target, { ...connectRetry, onRetry: warn, signal: stopping });
  await requireSearchAttributes(connection, namespace);

  const capacity = capacityOptions(config.capacity);
  const client = new Client({ connection, namespace });
  const metrics = processMetrics({ namespace, taskQueue: config.taskQueue });
  const { partner, delivery, activityInterceptors } = createObserved(config, metrics, tracing);
  worker = await Worker.create({
    connection,
    namespace,
    taskQueue: config.taskQueue,
    workflowBundle: { codePath: join(__dirname, tracing.workflowBundle) },
    interceptors: { activity: activityInterceptors },
    sinks: tracing.sinks,
    activities: createAllActivities({
      client,
      partner,
      delivery,
      purchases: createPurchaseReader(client),
      fingerprints: createFingerprinter(config.fingerprintSecrets),
      settings: config.purchase,
      brake: createBrake(client),
      reportDir: config.reportDir,
      stopping,
      metrics,
      now: Date.now,
    }),
    ...capacity,
    workerDeploymentOptions: versioningOf(config.deploymentVersion),
    ...shutdownOptions(config.purchase),
  });
  partner.listOrders({ limit: 1 }).catch((error: Error) => warn(`the partner can't be used: ${error.message}`));
  if (config.purchase.watch === 'history') keepWatching(client, config.taskQueue).catch(() => warn('no watcher yet'));
  void keepGauges({ client, partner, taskQueue: config.taskQueue, metrics, warn, signal: stopping });
  logger.info('worker ready', { taskQueue: config.taskQueue, health: health.address, ...capacity });

  await worker.run();
  await Promise.all([health.close(), partner.close(), delivery.close(), tracing.close()]);
  await connection.close();
}

/** What reaches out, with what sees it: log lines, metrics and traces. */
function createObserved(config: WorkerConfig, metrics: ReturnType<typeof processMetrics>, tracing: Tracing) {
  const logContext = createLogContext();
  const around = [logContext.aroundRequest, ...tracing.aroundRequest];
  return {
    partner: createPartnerClient({ ...config.partner, observer: observePartner(metrics), around }),
    delivery: tracing.around(createDelivery(config.delivery, tracing.headers)),
    activityInterceptors: [logContext.interceptor, ...tracing.activityInterceptors],
  };
}

main().catch(exitWith);
