import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noopMetricMeter } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities, createCircuitBreaker, createHistoryWatch } from '../../src/activities';
import type { CircuitBreaker } from '../../src/activities/circuit-breaker';
import { createReconcileActivities } from '../../src/activities/reconcile';
import { metricsOf } from '../../src/contracts/metrics';
import type { PurchaseSettings } from '../../src/contracts/purchase';
import { createEventSender, createFingerprinter } from '../../src/delivery';
import type { PartnerClient } from '../../src/partner';
import { createClient, createPurchaseReader } from '../../src/temporal/client';
import { circuitBreakerDelays } from '../../src/workflows/policies';
import './quiet-runtime';
import { closeAtEnd, temporaryFolder } from './clean-up';
import { HOUR, TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET, TEST_UI_URL } from './settings';

/** The workflow bundle of the last build. */
export const WORKFLOW_BUNDLE = join(__dirname, '../../dist/workflow-bundle.js');

export interface WorkerParts {
  address: string;
  namespace: string;
  taskQueue: string;
  settings: PurchaseSettings;
  partner: PartnerClient;
  receiver: { url: string };
  /** Default: the test secret. */
  fingerprintSecrets?: (() => readonly string[]) | undefined;
  /** The folder for reports of reconciliations. Default: a new folder. */
  reportDir?: string | undefined;
  /** How far ahead the clock of reconciliations is, ms. Default: an hour, so that recent purchases are old enough. */
  reconcilesAheadMs?: number | undefined;
  /** Uses the real circuit breaker. Without it, the faults of one test cannot pause the purchases of another. */
  circuitBreaker?: boolean | undefined;
  /** Further options of the SDK's worker. */
  options?: Pick<
    WorkerOptions,
    'enableNonLocalActivities' | 'interceptors' | 'maxConcurrentActivityTaskExecutions' | 'workerDeploymentOptions'
  >;
}

const ALWAYS_CLOSED: CircuitBreaker = { admit: () => ({ pauseReason: () => undefined, end() {} }) };

/** Starts a worker, or one more, in this process for an environment. @returns a function that stops it early */
export async function startWorkerOf(env: WorkerParts, options: WorkerParts['options']): Promise<() => Promise<void>> {
  return closeAtEnd(await startWorker({ ...env, options }));
}

/** Starts a worker in this process. @returns a function that stops it */
export async function startWorker(parts: WorkerParts): Promise<() => Promise<void>> {
  const { address, namespace, taskQueue, settings, partner, receiver, reconcilesAheadMs = HOUR } = parts;
  const connection = await NativeConnection.connect({ address });
  const client = createClient(connection, namespace);
  const eventSender = createEventSender({
    kind: 'webhook',
    url: receiver.url,
    secrets: () => [TEST_SIGNING_SECRET],
    timeoutMs: settings.deliveryTimeoutMs,
  });
  const stop = new AbortController();
  const deps = {
    client,
    partner,
    eventSender,
    settings,
    fingerprints: createFingerprinter(parts.fingerprintSecrets ?? (() => [TEST_FINGERPRINT_SECRET])),
    purchases: createPurchaseReader(client),
    metrics: metricsOf(noopMetricMeter),
    circuitBreaker: parts.circuitBreaker ? createCircuitBreaker(circuitBreakerDelays(settings)) : ALWAYS_CLOSED,
    historyWatch: createHistoryWatch(partner, stop.signal),
    reportDir: parts.reportDir ?? temporaryFolder(),
    temporalUiUrl: TEST_UI_URL,
    now: Date.now,
  };
  const reconciling = createReconcileActivities({ ...deps, now: () => Date.now() + reconcilesAheadMs });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { code: readFileSync(WORKFLOW_BUNDLE, 'utf8') },
    activities: { ...createActivities(deps), ...reconciling },
    // A cancellation arrives with the response to a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: '5s',
    shutdownForceTime: '10s',
    ...parts.options,
  });
  const running = worker.run();
  return async () => {
    stop.abort();
    worker.shutdown();
    await running;
    await eventSender.close();
    await connection.close();
  };
}
