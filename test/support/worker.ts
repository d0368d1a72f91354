import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noopMetricMeter } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities, createCircuitBreaker, createHistoryWatch } from '../../src/activities';
import type { CircuitBreaker } from '../../src/activities/circuit-breaker';
import { createReconcileActivities } from '../../src/activities/reconcile';
import { metricsOf } from '../../src/contracts/metrics';
import type { PurchaseSettings } from '../../src/contracts/purchase';
import { createDelivery, createFingerprinter } from '../../src/delivery';
import type { PartnerClient } from '../../src/partner';
import { createClient, createPurchaseReader } from '../../src/temporal/client';
import { circuitBreakerPauses } from '../../src/workflows/policies';
import './quiet-runtime';
import { closeAtEnd, temporaryFolder } from './clean-up';
import { HOUR, TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET, TEST_UI_URL } from './settings';

/** Where the workflows are that a build has bundled. */
export const WORKFLOW_BUNDLE = join(__dirname, '../../dist/workflow-bundle.js');

export interface WorkerParts {
  address: string;
  namespace: string;
  taskQueue: string;
  settings: PurchaseSettings;
  partner: PartnerClient;
  receiver: { url: string };
  /** Default: the one secret of the tests. */
  fingerprintSecrets?: (() => readonly string[]) | undefined;
  /** Where reconciliations write their reports. Default: a new folder. */
  reportDir?: string | undefined;
  /** How far ahead the clock of its reconciliations is, in ms. Default an hour, so that what was done a moment ago is old enough. */
  reconcilesAheadMs?: number | undefined;
  /** With the circuit breaker. Without it, the faults of one test hold none of another's purchases back. */
  circuitBreaker?: boolean | undefined;
  /** What it takes at once, and what it does besides. */
  options?: Pick<
    WorkerOptions,
    'enableNonLocalActivities' | 'interceptors' | 'maxConcurrentActivityTaskExecutions' | 'workerDeploymentOptions'
  >;
}

const ALWAYS_CLOSED: CircuitBreaker = { admit: () => ({ whyPaused: () => undefined, end() {} }) };

/** A worker in this process for an environment that has none of its own, or one more. @returns stops it before the test file ends */
export async function startWorkerOf(env: WorkerParts, options: WorkerParts['options']): Promise<() => Promise<void>> {
  return closeAtEnd(await startWorker({ ...env, options }));
}

/** A worker in this process. @returns stops it */
export async function startWorker(parts: WorkerParts): Promise<() => Promise<void>> {
  const { address, namespace, taskQueue, settings, partner, receiver, reconcilesAheadMs = HOUR } = parts;
  const connection = await NativeConnection.connect({ address });
  const client = createClient(connection, namespace);
  const delivery = createDelivery({
    kind: 'webhook',
    url: receiver.url,
    secrets: () => [TEST_SIGNING_SECRET],
    timeoutMs: settings.deliveryTimeoutMs,
  });
  const stop = new AbortController();
  const deps = {
    client,
    partner,
    delivery,
    settings,
    fingerprints: createFingerprinter(parts.fingerprintSecrets ?? (() => [TEST_FINGERPRINT_SECRET])),
    purchases: createPurchaseReader(client),
    metrics: metricsOf(noopMetricMeter),
    circuitBreaker: parts.circuitBreaker ? createCircuitBreaker(circuitBreakerPauses(settings)) : ALWAYS_CLOSED,
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
    // A cancel arrives with the answer to a heartbeat.
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
    await delivery.close();
    await connection.close();
  };
}
