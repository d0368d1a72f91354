import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { createAllActivities, createBrake, createLogContext } from '../activities';
import type { WorkerConfig } from '../config';
import type { Metrics } from '../contracts/record-metrics';
import { createDelivery, createFingerprinter, type Delivery } from '../delivery';
import { observePartner } from '../metrics';
import { createPartnerClient, type PartnerClient } from '../partner';
import { createPurchaseReader } from '../temporal/client';
import { processMetrics, versioningOf } from '../temporal/worker';
import type { Tracing } from '../tracing';
import { shutdownOptions, workflowCodeOptions } from '../workflows/policies';

/** The dependencies that the parts of a worker share. */
interface Shared {
  client: Client;
  namespace: string;
  tracing: Tracing;
  /** Aborts when the process is told to stop. */
  stopping: AbortSignal;
}

interface Parts {
  partner: PartnerClient;
  delivery: Delivery;
  metrics: Metrics;
  options: WorkerOptions;
}

/** Builds the parts of a worker, each with its log lines, metrics and traces. */
export function createParts(config: WorkerConfig, { client, namespace, tracing, stopping }: Shared): Parts {
  const { taskQueue } = config;
  const metrics = processMetrics({ namespace, taskQueue });
  const logContext = createLogContext();
  const around = [logContext.aroundRequest, ...tracing.aroundRequest];
  const partner = createPartnerClient({ ...config.partner, observer: observePartner(metrics), around });
  const delivery = tracing.around(createDelivery(config.delivery, tracing.headers));
  const options: WorkerOptions = {
    namespace,
    taskQueue,
    workflowBundle: { codePath: join(__dirname, '..', 'workflow-bundle.js') },
    interceptors: { activity: [logContext.interceptor, ...tracing.activityInterceptors] },
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
    workerDeploymentOptions: versioningOf(config.deploymentVersion),
    ...workflowCodeOptions,
    ...shutdownOptions(config.purchase),
  };
  return { partner, delivery, metrics, options };
}
