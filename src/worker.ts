#!/usr/bin/env node
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createAllActivities } from './activities';
import { readWorkerConfig, scrubSecrets } from './config';
import { createDelivery, createFingerprinter } from './delivery';
import { createPartnerClient } from './partner';
import { exitWith, stopSignal } from './exit';
import {
  createPurchaseReader,
  MissingSearchAttributesError,
  missingSearchAttributes,
  readTemporalTarget,
} from './temporal/client';
import { connectWorker, installRuntime, readinessOf, startHealthServer } from './temporal/worker';
import { connectRetry, shutdownOptions } from './workflows/policies';

async function main(): Promise<void> {
  const config = readWorkerConfig(process.env, { terminal: process.stdout.isTTY });
  const target = readTemporalTarget();
  scrubSecrets();
  const logger = installRuntime(config);
  const onRetry = (line: string) => logger.warn(line);

  let worker: Worker | undefined;
  const ready = readinessOf(() => worker);
  const health = await startHealthServer(config.healthAddress, ready);
  const connection = await connectWorker(target, { ...connectRetry, onRetry, signal: stopSignal() });
  const missing = await missingSearchAttributes(connection, target.namespace);
  if (missing.length > 0) throw new MissingSearchAttributesError(target.namespace, missing);

  const partner = createPartnerClient(config.partner);
  const delivery = createDelivery(config.delivery);
  const { namespace } = target;

  const client = new Client({ connection, namespace });
  const activities = createAllActivities({
    ...{ partner, delivery, client, settings: config.purchase, reportDir: config.reportDir, now: Date.now },
    fingerprints: createFingerprinter(config.fingerprintSecrets),
    purchases: createPurchaseReader(client),
  });
  const workflowBundle = { codePath: join(__dirname, 'workflow-bundle.js') };
  worker = await Worker.create({
    ...{ connection, namespace, taskQueue: config.taskQueue, workflowBundle, activities },
    // Many wait for a slow partner or checkout at once; none of them computes.
    maxConcurrentActivityTaskExecutions: 500,
    ...shutdownOptions(config.purchase),
  });
  partner.listOrders({ limit: 1 }).catch((error: Error) => logger.warn(`the partner can't be used: ${error.message}`));
  logger.info('worker ready', { taskQueue: config.taskQueue, health: health.address });

  await worker.run();
  await Promise.all([health.close(), partner.close(), delivery.close()]);
  await connection.close();
}

main().catch(exitWith);
