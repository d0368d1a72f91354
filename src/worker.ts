#!/usr/bin/env node
import { Worker } from '@temporalio/worker';
import { readWorkerConfig, scrubSecrets } from './config';
import { exitWith, stopSignal } from './exit';
import { keepGauges } from './metrics';
import { createClient, readTemporalTarget, requireSearchAttributes, TemporalRefusedError } from './temporal/client';
import {
  capacityOptions,
  connectWorker,
  installRuntime,
  readinessOf,
  runWorker,
  startHealthServer,
} from './temporal/worker';
import { startTracing } from './tracing';
import { createParts } from './worker/index';
import { connectRetry } from './workflows/policies';

/** Reads the configuration, connects, builds the parts, runs until the process is asked to stop, and closes the parts. */
async function main(): Promise<void> {
  // A full disk or a closed pipe must not crash the worker.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const config = readWorkerConfig(process.env, { terminal: process.stdout.isTTY, tryFolders: true });
  const target = readTemporalTarget(process.env, config.temporalApiKey);
  const warn = (line: string) => logger.warn(line);
  const tracing = startTracing(config.tracingEndpoint, 'worker', warn);
  scrubSecrets();
  const logger = installRuntime(config);

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
  const { partner, delivery, metrics, options } = createParts(config, { client, namespace, tracing, stopping, logger });
  const capacity = capacityOptions(config.capacity);
  worker = await Worker.create({ connection, ...options, ...capacity });
  partner.listOrders({ limit: 1 }).catch((error: Error) => warn(`the partner can't be used: ${error.message}`));
  void keepGauges({ client, partner, taskQueue, metrics, warn, signal: stopping });
  logger.info('worker ready', { taskQueue, health: health.address, ...capacity });

  await runWorker(worker).catch(async (error: unknown) => {
    // The SDK gives up two minutes after the server began to refuse its key, with an unrelated error.
    const ask = () => requireSearchAttributes(connection, namespace);
    const why: unknown = await connection.withDeadline(Date.now() + 5_000, ask).catch((refusal: unknown) => refusal);
    throw why instanceof TemporalRefusedError ? why : error;
  });
  await Promise.all([health.close(), partner.close(), delivery.close(), tracing.close()]);
  await connection.close();
}

main().catch(exitWith);
