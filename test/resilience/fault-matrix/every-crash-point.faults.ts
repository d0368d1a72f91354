import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxOptions } from '../../../sandbox';
import { reconcileNow } from '../../../src/starter/index';
import { faulty, type FaultyEnvironment, heal } from '../support/crash-points';
import { type Bought, killWhilePlacing, referencesOf, startAll, untilReached, untilSettled } from '../support/kill';
import { type Audit, auditAll, NO_FLAWS } from '../../support/audit';
import { operatorOf } from '../../support/operator';
import { startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { type Cell, MUCH_LATER_MS, otherCells, placingCells, witnessCells } from './matrix';
import { log } from '../../support/log';

const MINUTE = 60_000;
/** Several times what two cores need, so that only a purchase that hangs reaches it. */
const LIMIT_MS = 60 * MINUTE;
const SETTINGS = {
  pollIntervalMs: 500,
  deadlineMs: 8 * MINUTE,
  placeWithinMs: 5 * MINUTE,
  confirmWindowMs: 10_000,
  replace: 'always',
} as const;
/** The number of purchases at crash points on one worker: its circuit breaker opens when five in a row fail. */
const WAVE = 4;
/** A freeze takes long, so the waves of several environments are frozen at once. */
const FROZEN_PARTS = 4;
/** Longer than the server takes to time out a placement. */
const FROZEN_MS = 21_000;

const WITNESSES: Record<string, SandboxOptions> = {
  'search ignored': { search: 'ignored' },
  'search fuzzy': { search: 'fuzzy' },
  'oldest first, search ignored': { search: 'ignored', historyOrder: 'oldest' },
  'history lags': { historyLagMs: 1_500 },
};

type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

describe('every crash point with every fault', () => {
  it.each<[Signal, number]>([
    ['SIGKILL', 1],
    ['SIGTERM', 1],
    ['SIGSTOP', FROZEN_PARTS],
  ])(
    '%s of the worker buys nothing twice and loses nothing',
    async (signal, parts) => {
      const partOf = (cells: Cell[], part: number) => cells.filter((_, at) => at % parts === part);
      await Promise.all(
        Array.from({ length: parts }, (_, part) => {
          const cells = { placing: partOf(placingCells(), part), others: partOf(otherCells(), part) };
          return run(`${signal}, part ${part + 1} of ${parts}`, signal, cells);
        }),
      );
    },
    LIMIT_MS,
  );

  it(
    'SIGKILL with an unreliable history buys nothing twice and loses nothing',
    async () => {
      await Promise.all(
        Object.entries(WITNESSES).map(([name, options]) =>
          run(`SIGKILL, ${name}`, 'SIGKILL', { placing: witnessCells(), others: [] }, options),
        ),
      );
    },
    LIMIT_MS,
  );

  async function run(
    name: string,
    signal: Signal,
    cells: { placing: Cell[]; others: Cell[] },
    options: SandboxOptions = {},
  ): Promise<void> {
    // Foreign orders, so that the history is never empty.
    const environment = faulty(
      await startTestEnvironment({
        worker: false,
        ownNamespace: true,
        pastOrders: 1_500,
        sandbox: { balance: 1_000_000, ...options },
        settings: SETTINGS,
      }),
    );
    const workers = workersOf(environment);
    try {
      const bought = await killAtEvery(environment, workers, signal, cells);
      heal(environment);
      const lastOrder = bought.some(({ crashPoint }) => 'beyond' in crashPoint) ? Date.now() + MUCH_LATER_MS : 0;
      log(`${name}: ${bought.length} purchases; waiting for them to end`);
      await decideHolds(environment, name, bought);
      // Orders that the partner books long after the confirmation window must exist before the audit.
      await sleep(Math.max(0, lastOrder - Date.now()));
      const audit = await auditAll(environment, referencesOf(bought));
      log(`${name}: ${audit.boughtTwice.length} bought twice because of the partner`);
      expect(wrongCells(audit, bought)).toEqual({ ...NO_FLAWS, unplaced: expect.any(Array) as string[] });
      expect(await unreportedDoubles(environment, audit.boughtTwice)).toEqual([]);
    } finally {
      await workers.end();
      await environment.close();
    }
  }
});

/** Faults that make a history unreadable must end before a purchase is held, so the placements come last. */
async function killAtEvery(
  environment: FaultyEnvironment,
  workers: Workers,
  signal: Signal,
  cells: { placing: Cell[]; others: Cell[] },
): Promise<Bought[]> {
  const bought: Bought[] = [];
  await workers.start();
  for (const wave of waves(cells.others)) {
    const reaching = await startAll(environment, wave);
    bought.push(...reaching);
    await untilReached(reaching);
    workers.kill(signal);
    heal(environment);
    await workers.replace(signal);
  }
  for (const wave of waves(cells.placing)) {
    bought.push(...(await killWhilePlacing(environment, wave, () => workers.kill(signal), wave.length)));
    await workers.replace(signal);
  }
  return bought;
}

type Workers = ReturnType<typeof workersOf>;

/** The worker processes of an environment: a working one, and those that were killed. */
function workersOf(environment: TestEnvironment) {
  const env = workerEnvOf(environment);
  const all: WorkerProcess[] = [];
  const start = async () => void all.push(await startReadyWorker({ env }));
  return {
    start,
    kill: (signal: Signal) => all.at(-1)!.signal(signal),
    /** Starts another one. A frozen worker takes tasks with it, and a thawed one must not share the next wave. */
    async replace(signal: Signal): Promise<void> {
      const victim = all.at(-1)!;
      await start();
      if (signal !== 'SIGSTOP') return;
      await sleep(FROZEN_MS);
      victim.signal('SIGCONT');
      victim.signal('SIGTERM');
    },
    end: () => Promise.all(all.map((worker) => worker.end('SIGKILL'))),
  };
}

/**
 * Decides held purchases like a careful operator who knows the partner's orders: adopts an existing order, delivers
 * arrived keys, and abandons what was never bought. Nothing is left open.
 */
async function decideHolds(environment: TestEnvironment, name: string, bought: readonly Bought[]): Promise<void> {
  for (;;) {
    const states = await untilSettled(environment, referencesOf(bought));
    const held = bought.filter(({ referenceId }) => states.get(referenceId) === 'HELD');
    if (held.length === 0) return;
    for (const { referenceId, crashPoint } of held) {
      log(`${name}: ${crashPoint.name}: ${await decide(environment, referenceId)}`);
    }
  }
}

async function decide(environment: TestEnvironment, referenceId: string): Promise<string> {
  const hold = await waitUntil('it shows its hold', async () => (await environment.starter.status(referenceId)).hold);
  const [order] = await environment.sandbox.ordersOf(referenceId);
  const decision = hold.decisions.includes('deliver') ? 'deliver' : order ? 'order' : 'abandon';
  const orderId = decision === 'order' ? order?.id : undefined;
  await operatorOf(environment, referenceId).resolve(decision, { holdId: hold.id, orderId });
  const isDecided = async () => (await environment.starter.status(referenceId)).state !== 'HELD';
  await waitUntil(`${referenceId} is no longer held`, isDecided);
  return `--${decision}, held because ${hold.explanation}`;
}

/**
 * The audit by the names of cells. It excuses only an order that the partner made in excess, and the keys of that
 * order.
 */
function wrongCells(audit: Audit, bought: readonly Bought[]): Audit {
  const cells = new Map(bought.map(({ referenceId, crashPoint }) => [referenceId, crashPoint as Cell]));
  const entries = Object.entries(audit).map(([fault, references]: [string, string[]]) => {
    const mayBeExcused = fault === 'boughtTwice' || fault === 'lostKeys';
    const left = references.filter((one) => !(mayBeExcused && cells.get(one)?.beyond));
    return [fault, left.map((one) => `${one}: ${cells.get(one)?.name ?? 'an event'}`)];
  });
  return Object.fromEntries(entries) as Audit;
}

/**
 * Reconciles, without repairs, until each is reported as a double purchase. @returns those that are not reported in
 * time
 */
async function unreportedDoubles({ client, taskQueue }: TestEnvironment, references: string[]): Promise<string[]> {
  if (references.length === 0) return [];
  let missing = references;
  const areReported = async () => {
    const { details } = await reconcileNow(client, taskQueue, { dryRun: true, lookbackMs: 30 * MINUTE });
    const doubles = details.filter(({ kind }) => kind === 'DOUBLE_PURCHASE').map(({ referenceId }) => referenceId);
    missing = references.filter((referenceId) => !doubles.includes(referenceId));
    return missing.length === 0;
  };
  // A reconciliation skips orders that are younger than the confirmation window.
  await waitUntil('all are reported', areReported, { everyMs: 5_000 }).catch(() => undefined);
  return missing;
}

function waves(cells: readonly Cell[]): Cell[][] {
  return Array.from({ length: Math.ceil(cells.length / WAVE) }, (_, at) => cells.slice(at * WAVE, (at + 1) * WAVE));
}
