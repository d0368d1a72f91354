import type { StartedWorker, Environment } from '../environment';
import { withEnvironment } from '../environment';
import { endedPurchases, meanwhile, references, startAll, untilReached } from '../load';
import { totalOf } from '../sandbox';
import type { Polling, Side } from '../sides';
import { median, percentile } from '../statistics';
import { sampleMemory, usageOf } from '../usage';
import type { Measured, Run } from './run';

export interface LoadSettings extends Polling {
  purchases: number;
  product: string;
  /** How fast the sandbox's clock runs. */
  speed: number;
  /** From placement until the order is complete, ms. */
  completeAfterMs: number;
}

/** Gives up on the remaining purchases when nothing has been delivered for this long. */
const STALL_MS = 90_000;
/** How many histories to inspect. All are alike, except for a few with a failed attempt. */
const DESCRIBED = 15;

/** Starts all purchases at once and waits until each has ended. */
export function measurePurchases({ cli, side, progress }: Run, settings: LoadSettings): Promise<Measured> {
  return withEnvironment(cli, side, settings.speed, async (environment) => {
    const worker = await environment.startWorker(settings);
    const load = await runLoad(environment, worker, side, settings, progress);
    return { ...load, ...(await histories(environment, side)), ...(await deliveries(environment, settings)) };
  });
}

async function runLoad(
  environment: Environment,
  worker: StartedWorker,
  side: Side,
  settings: LoadSettings,
  progress: Run['progress'],
): Promise<Measured> {
  const { temporal, receiver, sandbox } = environment;
  const { purchases, product } = settings;
  const requestsBefore = totalOf(await sandbox.requests());
  const [serverBefore, workerBefore] = [usageOf(temporal.pid), usageOf(worker.pid)];
  const memory = sampleMemory(worker.pid);
  const startedAt = Date.now();
  const starting = meanwhile(startAll(environment, side, references(purchases), product, settings));
  const delivered = await untilReached(purchases, () => receiver.deliveredAt.size, STALL_MS, progress);
  await starting;
  await untilReached(
    delivered,
    () => endedPurchases(environment, side),
    STALL_MS,
    () => progress('ending'),
  );
  const seconds = (Math.max(...receiver.deliveredAt.values()) - startedAt) / 1_000;
  memory.stop();
  const perThousand = (before: number, after: number) => ((after - before) / delivered) * 1_000;
  return {
    purchasesPerSecond: delivered / seconds,
    serverCpu: perThousand(serverBefore.cpuSeconds, usageOf(temporal.pid).cpuSeconds),
    workerCpu: perThousand(workerBefore.cpuSeconds, usageOf(worker.pid).cpuSeconds),
    workerPeakMb: memory.peak(),
    partnerRequests: (totalOf(await sandbox.requests()) - requestsBefore) / purchases,
    unfinished: purchases - delivered,
  };
}

async function histories({ temporal, receiver }: Environment, side: Side): Promise<Measured> {
  const described = [];
  for (const referenceId of [...receiver.deliveredAt.keys()].slice(0, DESCRIBED)) {
    const handle = temporal.client.workflow.getHandle(side.workflowId(referenceId));
    const { historyLength, historySize = 0, raw } = await handle.describe();
    const transitions = Number(raw.workflowExecutionInfo?.stateTransitionCount ?? 0);
    described.push({ historyLength, historySize, transitions });
  }
  return {
    historyEvents: median(described.map(({ historyLength }) => historyLength)),
    historyBytes: median(described.map(({ historySize }) => historySize)),
    stateTransitions: median(described.map(({ transitions }) => transitions)),
  };
}

/** Time from an order's completion at the partner until its keys arrived. */
async function deliveries({ sandbox, receiver }: Environment, { completeAfterMs }: LoadSettings): Promise<Measured> {
  const ledger = await sandbox.ledger();
  const seconds = ledger.references.flatMap(({ referenceId, orders: [order] }) => {
    const deliveredAt = receiver.deliveredAt.get(referenceId);
    if (deliveredAt === undefined || order === undefined) return [];
    return [(deliveredAt - Date.parse(order.createdAt) - completeAfterMs) / 1_000];
  });
  return {
    deliveredP50: percentile(seconds, 0.5),
    deliveredP95: percentile(seconds, 0.95),
    deliveredP99: percentile(seconds, 0.99),
  };
}
