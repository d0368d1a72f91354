import { setTimeout } from 'node:timers/promises';
import { withEnvironment } from '../environment';
import { usageOf } from '../usage';
import type { Measured, Run } from './run';

const POLLING = { firstPollMs: 5_000, pollIntervalMs: 30_000 };

/** Time from the start of the worker's process until it is ready, then its memory when idle. */
export function measureColdStart({ cli, side }: Run, { settleMs }: { settleMs: number }): Promise<Measured> {
  return withEnvironment(cli, side, 1, async ({ startWorker }) => {
    const worker = await startWorker(POLLING);
    await setTimeout(settleMs);
    return { readySeconds: worker.readyAfterMs / 1_000, workerSettledMb: usageOf(worker.pid).memoryMb };
  });
}
