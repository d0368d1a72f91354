import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createReconcileActivities } from '../../../src/activities/reconcile/index';
import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import type { ReconcileInput, ReconciliationResult } from '../../../src/contracts/reconciliation';
import { SEARCH_ATTRIBUTES } from '../../../src/contracts/search-attributes';
import { registerSearchAttributes } from '../../../src/temporal/client';
import { startWorker, startWorld, type World, type WorldOptions } from '../../support/world';

export const HOUR = 3_600_000;
const TEN_DAYS = 10 * 24 * 3_600;
/** The clock of the tests' reconciliations is ahead by this, so that what was done a moment ago has settled. */
const LATER_MS = HOUR;

/** Has a namespace of its own, because a reconciliation reads all purchases of its namespace. */
export interface ReconciliationEnvironment extends World {
  namespace: string;
  /** Runs a reconciliation to its end. */
  reconcile(input?: ReconcileInput): Promise<ReconciliationResult>;
  /** Waits until as many workflows as expected are listed for a query. */
  untilListed(query: string, count: number): Promise<void>;
}

/** @param options `worker: false` leaves the worker to the test. */
export async function startReconciliationEnvironment(options: WorldOptions = {}): Promise<ReconciliationEnvironment> {
  const address = process.env.TEST_TEMPORAL_ADDRESS;
  if (!address) throw new Error('there is no Temporal server: run the suite with npm test');
  const namespace = `reconciliation-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  await prepare(connection, namespace);
  const client = new Client({ connection, namespace });
  const world = await startWorld({
    settings: { deadlineMs: 1_500, replace: 'never', ...options.settings },
    sandbox: { seed: randomUUID(), balance: 10_000_000, ...options.sandbox },
    client,
    worker: false,
  });
  const worker = options.worker === false ? undefined : await startReconcilingWorker(world, address, namespace);

  return {
    ...world,
    namespace,
    reconcile: (input = {}) =>
      client.workflow.execute(RECONCILE_WORKFLOW, {
        workflowId: `reconcile-${randomUUID()}`,
        taskQueue: world.taskQueue,
        args: [input],
      }) as Promise<ReconciliationResult>,
    async untilListed(query, count) {
      while ((await client.workflow.count(query)).count < count)
        await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async close() {
      await worker?.close();
      await world.close();
      await connection.close();
    },
  };
}

async function prepare(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: TEN_DAYS as never },
  });
  for (;;) {
    try {
      await registerSearchAttributes(connection, namespace);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      if (SEARCH_ATTRIBUTES.every(({ name }) => customAttributes?.[name] !== undefined)) return;
    } catch {
      // The server knows a new namespace everywhere only after a moment.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function startReconcilingWorker(world: World, address: string, namespace: string) {
  return startWorker({
    ...world,
    address,
    namespace,
    more: (deps, client) =>
      createReconcileActivities({
        ...deps,
        client,
        reportDir: mkdtempSync(join(tmpdir(), 'reports-')),
        now: () => Date.now() + LATER_MS,
      }),
  });
}
