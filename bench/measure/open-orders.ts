import { setTimeout } from 'node:timers/promises';
import { withEnvironment } from '../environment';
import { meanwhile, references, startAll, untilReached } from '../load';
import { totalOf } from '../sandbox';
import { median } from '../statistics';
import { sampleMemory, usageOf } from '../usage';
import type { Measured, Run } from './run';

export interface OpenOrderSettings {
  orders: number;
  /** Between two polls of an order, ms. */
  pollIntervalMs: number;
  /** How long it is measured once all orders are placed, ms. */
  windowMs: number;
}

const STALL_MS = 120_000;
const SETTLE_MS = 5_000;

/** Orders that stay open: what it costs to wait for them. */
export function measureOpenOrders({ cli, side, progress }: Run, settings: OpenOrderSettings): Promise<Measured> {
  const { orders, windowMs, pollIntervalMs } = settings;
  const polling = { firstPollMs: pollIntervalMs, pollIntervalMs };
  return withEnvironment(cli, side, 1, async (environment) => {
    const { temporal, sandbox, startWorker } = environment;
    const worker = await startWorker(polling);
    const memory = sampleMemory(worker.pid);
    const starting = meanwhile(startAll(environment, side, references(orders), 'demo-never', polling));
    const placed = await untilReached(orders, async () => (await sandbox.requests()).place, STALL_MS, progress);
    await starting;
    await setTimeout(SETTLE_MS);
    progress(`${placed} open, for ${windowMs / 1_000} s`);
    const requestsBefore = totalOf(await sandbox.requests());
    const [serverBefore, workerBefore] = [usageOf(temporal.pid), usageOf(worker.pid)];
    const samplesBefore = memory.all().length;
    await setTimeout(windowMs);
    const polls = placed * (windowMs / pollIntervalMs);
    const requests = totalOf(await sandbox.requests()) - requestsBefore;
    memory.stop();
    const msPerPoll = (before: number, after: number) => ((after - before) * 1_000) / polls;
    return {
      workerPeakMb: memory.peak(),
      workerSettledMb: median(memory.all().slice(samplesBefore)),
      serverCpuPerPoll: msPerPoll(serverBefore.cpuSeconds, usageOf(temporal.pid).cpuSeconds),
      workerCpuPerPoll: msPerPoll(workerBefore.cpuSeconds, usageOf(worker.pid).cpuSeconds),
      requestsPerPoll: requests / polls,
      unfinished: orders - placed,
    };
  });
}
