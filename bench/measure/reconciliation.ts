import { setTimeout } from 'node:timers/promises';
import { DEFAULT_TASK_QUEUE } from '../../src/contracts/names';
import { reconcileNow } from '../../src/starter/reconciliation';
import { withEnvironment } from '../environment';
import { median } from '../statistics';
import { sampleMemory } from '../usage';
import type { Measured, Run } from './run';

const PAGE_SIZE = 500;
const IDLE_MS = 3_000;
const POLLING = { firstPollMs: 5_000, pollIntervalMs: 30_000 };

/**
 * Reconciles orders of the last two days. None belongs to a purchase, so each is a finding. The first 500 are read
 * again before they are reported. These reads are counted separately from the pages.
 */
export function measureReconciliation({ cli, side }: Run, { orders }: { orders: number }): Promise<Measured> {
  return withEnvironment(cli, side, 1, async ({ temporal, sandbox, startWorker }) => {
    await sandbox.addPastOrders(orders, 2);
    const worker = await startWorker(POLLING);
    const memory = sampleMemory(worker.pid);
    await setTimeout(IDLE_MS);
    const idleMb = median(memory.all().slice(-5));
    const before = await sandbox.requests();
    const startedAt = performance.now();
    const result = await reconcileNow(temporal.client, DEFAULT_TASK_QUEUE, { dryRun: true });
    const seconds = (performance.now() - startedAt) / 1_000;
    memory.stop();
    const after = await sandbox.requests();
    if (result.orders !== orders) throw new Error(`${result.orders} of ${orders} orders were reconciled`);
    return {
      seconds,
      requestsPerPage: (after.orders - before.orders) / Math.ceil(orders / PAGE_SIZE),
      ordersReadAgain: after.keys - before.keys,
      memoryAboveIdleMb: memory.peak() - idleMb,
    };
  });
}
