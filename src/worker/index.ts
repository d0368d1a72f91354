import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Logger, WorkerOptions } from '@temporalio/worker';
import { createActivities, createCircuitBreaker, createHistoryWatch, createLogContext } from '../activities';
import type { WorkerConfig } from '../config';
import type { Metrics } from '../contracts/record-metrics';
import { createDelivery, createFingerprinter, type Delivery } from '../delivery';
import { observePartner } from '../metrics';
import { createPartnerClient, type PartnerClient } from '../partner';
import { createPurchaseReader } from '../temporal/client';
import { processMetrics, versioningOf } from '../temporal/worker';
import type { Tracing } from '../tracing';
import { circuitBreakerPauses, shutdownOptions, workflowCodeOptions } from '../workflows/policies';

/** The dependencies that the parts of a worker share. */
interface Shared {
  client: Client;
  namespace: string;
  tracing: Tracing;
  /** Aborts when the process is told to stop. */
  stopping: AbortSignal;
  logger: Logger;
}

interface Parts {
  partner: PartnerClient;
  delivery: Delivery;
  metrics: Metrics;
  options: WorkerOptions;
}

/** Builds what a worker is made of, each part with what sees it: log lines, metrics and traces. */
export function createParts(config: WorkerConfig, shared: Shared): Parts {
  const { client, namespace, tracing, stopping, logger } = shared;
  const { taskQueue } = config;
  const metrics = processMetrics({ namespace, taskQueue });
  const logContext = createLogContext();
  const around = [logContext.aroundRequest, ...tracing.aroundRequest];
  const partner = createPartnerClient({ ...config.partner, observer: observePartner(metrics), around });
  const showCircuit = (why: string | undefined) => {
    metrics.set('fulfilment_circuit_breaker_open', why === undefined ? 0 : 1, {});
    if (why === undefined) logger.info('placements go on: the partner takes orders again');
    else logger.warn('placements are paused: the partner takes no orders', { why });
  };
  metrics.set('fulfilment_circuit_breaker_open', 0, {});
  const delivery = tracing.around(createDelivery(config.delivery, tracing.headers));
  const options: WorkerOptions = {
    namespace,
    taskQueue,
    workflowBundle: { codePath: join(__dirname, '..', 'workflow-bundle.js') },
    interceptors: { activity: [logContext.interceptor, ...tracing.activityInterceptors] },
    activities: createActivities({
      client,
      partner,
      delivery,
      purchases: createPurchaseReader(client),
      fingerprints: createFingerprinter(config.fingerprintSecrets),
      settings: config.purchase,
      circuitBreaker: createCircuitBreaker({ ...circuitBreakerPauses(config.purchase), onChange: showCircuit }),
      historyWatch: createHistoryWatch(partner, stopping),
      reportDir: config.reportDir,
      metrics,
      now: Date.now,
    }),
    workerDeploymentOptions: versioningOf(config.deploymentVersion),
    ...workflowCodeOptions,
    ...shutdownOptions(config.purchase),
  };
  return { partner, delivery, metrics, options };
}
