import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createActivities } from './activities';
import { readWorkerConfig } from './config';
import { createDelivery, createFingerprinter } from './delivery';
import { createPartnerClient } from './partner';
import { connectWorker, readTemporalTarget } from './temporal/connection';
import { readinessOf, startHealthServer } from './temporal/health';
import { otherPurchasesOf } from './temporal/other-purchases';
import { exitWith } from './temporal/exit';
import { installRuntime } from './temporal/runtime';
import { MissingSearchAttributesError, missingSearchAttributes } from './temporal/search-attributes';

const A_MINUTE_OF_TRIES = { tries: 12, pauseMs: 5_000 };

async function main(): Promise<void> {
  const config = readWorkerConfig(process.env, { terminal: process.stdout.isTTY });
  const target = readTemporalTarget();
  const logger = installRuntime(config);
  const connection = await connectWorker(target, { ...A_MINUTE_OF_TRIES, onRetry: (line) => logger.warn(line) });
  const missing = await missingSearchAttributes(connection, target.namespace);
  if (missing.length > 0) throw new MissingSearchAttributesError(target.namespace, missing);

  const partner = createPartnerClient(config.partner);
  const delivery = createDelivery(config.delivery);
  const { namespace } = target;
  const graceMs = 2 * config.purchase.partnerTimeoutMs + config.purchase.deliveryTimeoutMs + 5_000;

  let worker: Worker | undefined;
  const health = await startHealthServer(
    config.healthAddress,
    readinessOf(() => worker, connection),
  );
  worker = await Worker.create({
    connection,
    namespace,
    taskQueue: config.taskQueue,
    workflowBundle: { codePath: join(__dirname, 'workflow-bundle.js') },
    activities: createActivities({
      partner,
      delivery,
      fingerprints: createFingerprinter(() => config.fingerprintSecret.current()),
      settings: config.purchase,
      otherPurchasesOf: otherPurchasesOf(new Client({ connection, namespace })),
      now: Date.now,
    }),
    shutdownGraceTime: graceMs,
    shutdownForceTime: graceMs + 10_000,
  });
  partner.listOrders({ limit: 1 }).catch((error: Error) => logger.warn(`the partner can't be used: ${error.message}`));
  logger.info('worker ready', { taskQueue: config.taskQueue, health: health.address });

  await worker.run();
  await Promise.all([health.close(), partner.close(), delivery.close()]);
  await connection.close();
}

main().catch(exitWith);
