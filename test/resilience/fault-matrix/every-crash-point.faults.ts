import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxOptions } from '../../../sandbox';
import { faulty, type FaultyEnvironment, heal } from '../support/crash-points';
import { type Bought, killWhilePlacing, referencesOf, startAll, untilReached } from '../support/kill';
import { auditAll, FLAWLESS } from '../../support/audit';
import { temporaryFolder } from '../../support/clean-up';
import { startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { decideHolds } from './decide-holds';
import { type Cell, MUCH_LATER_MS, otherCells, placingCells, witnessCells } from './matrix';
import { decisions, type RunSummary, summaryOf, tableOf, violations } from './summary';
import { buyAThousand } from './thousand-purchases';
import { unreportedDoubles } from './unreported-doubles';

const MINUTE = 60_000;
const SETTINGS = {
  pollIntervalMs: 500,
  deadlineMs: 8 * MINUTE,
  placeWithinMs: 5 * MINUTE,
  confirmWindowMs: 10_000,
  replace: 'always',
} as const;
/** So many placements are under way at each kill, which comes in the instant in which the last of them is read. */
const WAVE = 4;
/** Frozen pollers swallow what is meant for others, so there are fewer and larger waves. */
const FROZEN_WAVE = 24;
/** Longer than a placement may take before the server gives it up. */
const FROZEN_MS = 21_000;

const WITNESSES: Record<string, SandboxOptions> = {
  'search ignored': { search: 'ignored' },
  'search fuzzy': { search: 'fuzzy' },
  'oldest first, search ignored': { search: 'ignored', historyOrder: 'oldest' },
  'history lags': { historyLagMs: 1_500 },
};

type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

describe('every crash point with every fault', () => {
  const summaries: RunSummary[] = [];

  afterAll(() => log(`\n${tableOf(summaries)}\n`));

  it.each<Signal>(['SIGKILL', 'SIGTERM', 'SIGSTOP'])(
    '%s of the worker neither buys twice nor loses anything',
    (signal) => run(signal, signal, { placing: placingCells(), others: otherCells() }),
    15 * MINUTE,
  );

  it(
    'SIGKILL with a history that is a poor witness neither buys twice nor loses anything',
    async () => {
      await Promise.all(
        Object.entries(WITNESSES).map(([name, options]) =>
          run(`SIGKILL, ${name}`, 'SIGKILL', { placing: witnessCells(), others: [] }, options),
        ),
      );
    },
    15 * MINUTE,
  );

  it(
    '1,000 purchases with 20 SIGKILLs of the worker and one of the server are each bought and delivered once',
    async () => {
      const { summary, bought } = await buyAThousand(log);
      summaries.push(summary);
      expect(violations(summary, bought)).toEqual([]);
    },
    25 * MINUTE,
  );

  async function run(
    name: string,
    signal: Signal,
    cells: { placing: Cell[]; others: Cell[] },
    options: SandboxOptions = {},
  ): Promise<void> {
    // Orders that nobody here made, so that the history is never empty.
    const environment = faulty(
      await startTestEnvironment({
        worker: false,
        pastOrders: 1_500,
        sandbox: { balance: 1_000_000, ...options },
        settings: SETTINGS,
      }),
    );
    const workers = new Workers(environment);
    try {
      const bought = await killAtEvery(environment, workers, signal, cells);
      heal(environment);
      const lastOrder = bought.some(({ crashPoint }) => 'beyond' in crashPoint) ? Date.now() + MUCH_LATER_MS : 0;
      log(`${name}: ${bought.length} purchases, ${workers.killed} kills; waiting for them to end`);
      const references = referencesOf(bought);
      const ends = await decideHolds(environment, references);
      // What the partner books long after the settling time must be there before the audit.
      await sleep(Math.max(0, lastOrder - Date.now()));
      const audit = await auditAll(environment, references);
      const summary = summaryOf(name, bought, ends, audit);
      summaries.push(summary);
      log([`${name}: ${violations(summary, bought).join('\n') || 'flawless'}`, ...decisions(ends, bought)].join('\n'));
      const { unplaced: _, ...nothing } = FLAWLESS;
      expect(summary.wrong).toEqual(nothing);
      expect(await unreportedDoubles(environment, audit.boughtTwice)).toEqual([]);
    } finally {
      await workers.end();
      await environment.close();
    }
  }
});

/** What keeps a history unreadable must be over before a person is asked, so the placements come last. */
async function killAtEvery(
  environment: FaultyEnvironment,
  workers: Workers,
  signal: Signal,
  cells: { placing: Cell[]; others: Cell[] },
): Promise<Bought[]> {
  await workers.start();
  const bought = await startAll(environment, cells.others);
  await untilReached(bought);
  if (bought.length > 0) {
    workers.kill(signal);
    heal(environment);
    await workers.start();
  }
  for (const wave of waves(cells.placing, signal === 'SIGSTOP' ? FROZEN_WAVE : WAVE)) {
    bought.push(...(await killWhilePlacing(environment, wave, () => workers.kill(signal), wave.length)));
    await workers.start();
  }
  return bought;
}

/** The worker processes of an environment: one that works, and those that were killed. */
class Workers {
  killed = 0;
  private readonly reportDir = temporaryFolder();
  private readonly all: WorkerProcess[] = [];
  private readonly thaws: NodeJS.Timeout[] = [];

  constructor(private readonly environment: TestEnvironment) {}

  async start(): Promise<void> {
    this.all.push(await startReadyWorker({ env: workerEnvOf(this.environment, { REPORT_DIR: this.reportDir }) }));
  }

  kill(signal: Signal): void {
    const victim = this.all.at(-1)!;
    this.killed += 1;
    victim.signal(signal);
    if (signal === 'SIGSTOP') this.thaws.push(setTimeout(() => victim.signal('SIGCONT'), FROZEN_MS));
  }

  async end(): Promise<void> {
    for (const thaw of this.thaws) clearTimeout(thaw);
    await Promise.all(this.all.map((worker) => worker.end('SIGKILL')));
  }
}

function waves<T>(cells: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(cells.length / size) }, (_, at) => cells.slice(at * size, (at + 1) * size));
}

/** Progress, past Jest's own reporter. */
function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
