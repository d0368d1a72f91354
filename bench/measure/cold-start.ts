import { setTimeout } from 'node:timers/promises';
import { withEnvironment } from '../environment';
import { usageOf } from '../usage';
import type { Measured, Run } from './run';

const POLLING = { firstPollMs: 5_000, pollIntervalMs: 30_000 };

/** From the start of the worker's process until it says that it is ready; then what it holds with nothing to do. */
export function measureColdStart({ cli, side }: Run, { settleMs }: { settleMs: number }): Promise<Measured> {
  return withEnvironment(cli, side, 1, async ({ startWorker }) => {
    const worker = await startWorker(POLLING);
    await setTimeout(settleMs);
    return { readySeconds: worker.readyAfterMs / 1_000, workerSettledMb: usageOf(worker.pid).memoryMb };
  });
}
