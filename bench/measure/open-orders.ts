import { setTimeout } from 'node:timers/promises';
import { type Environment, type StartedWorker, withEnvironment } from '../environment';
import { meanwhile, references, startAll, untilReached } from '../load';
import { totalOf } from '../sandbox';
import type { Polling, Side } from '../sides';
import { median } from '../statistics';
import { type MemorySamples, sampleMemory, usageOf } from '../usage';
import type { Measured, Run } from './run';

export interface OpenOrderSettings {
  orders: number;
  /** Between two polls of an order, ms. */
  pollIntervalMs: number;
  /** How long to measure once all orders are placed, ms. */
  windowMs: number;
  /** Used for `PURCHASE_WATCH=history`: orders, interval in ms, number of intervals, orders completed in each interval. */
  watchedOrders: number;
  watchIntervalMs: number;
  watchIntervals: number;
  changedEachInterval: number;
}

/** At most two batches are unplaced at a time, so one placement with an unknown outcome does not block the others. */
const BATCH = 50;
const STALL_MS = 120_000;
const SETTLE_MS = 5_000;

/** What it costs to wait for orders that stay open. */
export function measureOpenOrders({ cli, side, progress }: Run, settings: OpenOrderSettings): Promise<Measured> {
  const isWatched = side.name === 'history';
  const orders = isWatched ? settings.watchedOrders : settings.orders;
  const pollIntervalMs = isWatched ? settings.watchIntervalMs : settings.pollIntervalMs;
  const windowMs = isWatched ? settings.watchIntervals * pollIntervalMs : settings.windowMs;
  const polling = { firstPollMs: pollIntervalMs, pollIntervalMs };
  return withEnvironment(cli, side, 1, async (environment) => {
    const worker = await environment.startWorker(polling);
    const samples = sampleMemory(worker.pid);
    const placed = await openOrders(environment, side, orders, polling, progress);
    await setTimeout(SETTLE_MS);
    progress(`${placed} open, for ${windowMs / 1_000} s`);
    const changing = isWatched ? meanwhile(changeOrders(environment, settings)) : undefined;
    const polls = placed * (windowMs / pollIntervalMs);
    const { costs, memory } = await measureWindow(environment, worker, samples, windowMs, polls);
    const unfinished = orders - placed;
    // The memory of fewer orders would look like a saving.
    return isWatched ? { ...costs, intervalsLate: await changing, unfinished } : { ...costs, ...memory, unfinished };
  });
}

/**
 * Starts the purchases in batches that the worker can keep up with.
 *
 * @returns how many were placed
 */
async function openOrders(
  environment: Environment,
  side: Side,
  orders: number,
  polling: Polling,
  progress: Run['progress'],
): Promise<number> {
  const placed = async () => (await environment.sandbox.requests()).place;
  const all = references(orders);
  for (let started = 0; started < orders; started += BATCH) {
    await startAll(environment, side, all.slice(started, started + BATCH), 'demo-never', polling);
    await untilReached(started - BATCH, placed, STALL_MS, progress);
  }
  return untilReached(orders, placed, STALL_MS, progress);
}

async function measureWindow(
  { temporal, sandbox }: Environment,
  worker: StartedWorker,
  samples: MemorySamples,
  windowMs: number,
  polls: number,
): Promise<{ costs: Measured; memory: Measured }> {
  const requestsBefore = totalOf(await sandbox.requests());
  const [serverBefore, workerBefore] = [usageOf(temporal.pid), usageOf(worker.pid)];
  const samplesBefore = samples.all().length;
  await setTimeout(windowMs);
  const msPerPoll = (before: number, after: number) => ((after - before) * 1_000) / polls;
  const server = msPerPoll(serverBefore.cpuSeconds, usageOf(temporal.pid).cpuSeconds);
  const own = msPerPoll(workerBefore.cpuSeconds, usageOf(worker.pid).cpuSeconds);
  const requests = totalOf(await sandbox.requests()) - requestsBefore;
  samples.stop();
  return {
    costs: { serverCpuPerPoll: server, workerCpuPerPoll: own, requestsPerPoll: requests / polls },
    memory: { workerPeakMb: samples.peak(), workerSettledMb: median(samples.all().slice(samplesBefore)) },
  };
}

/**
 * Completes some orders in each interval.
 *
 * @returns the most intervals that any delivery took; an undelivered order counts until the measurement gives up
 */
async function changeOrders({ sandbox, receiver }: Environment, settings: OpenOrderSettings): Promise<number> {
  const { watchIntervalMs, watchIntervals, changedEachInterval } = settings;
  const changes = changedEachInterval * watchIntervals;
  // Spread over old and new orders, because a reader that stops too early would miss the old ones.
  const all = (await sandbox.ledger()).references;
  const chosen = Array.from({ length: changes }, (_, index) => all[Math.floor((index * all.length) / changes)]);
  const changedAt = new Map<string, number>();
  for (const {
    referenceId,
    orders: [order],
  } of chosen.filter((reference) => reference !== undefined)) {
    if (order) await sandbox.complete(order.id);
    changedAt.set(referenceId, Date.now());
    await setTimeout(watchIntervalMs / changedEachInterval);
  }
  await untilReached(
    changes,
    () => receiver.deliveredAt.size,
    STALL_MS,
    () => undefined,
  );
  const late = [...changedAt].map(([referenceId, at]) => (receiver.deliveredAt.get(referenceId) ?? Date.now()) - at);
  return Math.max(...late) / watchIntervalMs;
}
