import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FLAWLESS, judge } from '../crash/judge';
import { heal, type Stage, stageOf } from '../crash/moments';
import { type Bought, startAll, strikeWhilePlacing, untilReached } from '../crash/strike';
import { type Environment, startWorkerProcess, type WorkerProcess } from '../../support/processes';
import type { SandboxOptions } from '../../../src/sandbox/index';
import { startWorld, type World } from '../../support/world';
import { type Cell, MUCH_LATER_MS, otherCells, placingCells, witnessCells } from './matrix';
import { seeThrough } from './people';
import { unreported } from './reported';
import { complaints, decisions, type Row, rowOf, tableOf } from './tally';
import { buyAThousand } from './thousand';

const MINUTE = 60_000;
const SETTINGS = {
  pollIntervalMs: 500,
  deadlineMs: 8 * MINUTE,
  placeWithinMs: 5 * MINUTE,
  settleMs: 10_000,
  replace: 'always',
} as const;
/** So many placements are struck at once, in the instant in which the last of them is read. */
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

type Blow = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

describe('every moment by every fault', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS!;
  const rows: Row[] = [];

  afterAll(() => say(`\n${tableOf(rows)}\n`));

  it.each<Blow>(['SIGKILL', 'SIGTERM', 'SIGSTOP'])(
    '%s of the worker neither buys twice nor loses anything',
    (blow) => run(blow, blow, { placing: placingCells(), others: otherCells() }),
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
      const { row, bought } = await buyAThousand(say);
      rows.push(row);
      expect(complaints(row, bought)).toEqual([]);
    },
    25 * MINUTE,
  );

  async function run(
    name: string,
    blow: Blow,
    cells: { placing: Cell[]; others: Cell[] },
    options: SandboxOptions = {},
  ): Promise<void> {
    const sandbox = { seed: randomUUID(), balance: 1_000_000, ...options };
    const world = await startWorld({ worker: false, sandbox, settings: SETTINGS });
    const reportDir = await mkdtemp(join(tmpdir(), 'fulfilment-reports-'));
    const workers = new Workers(world, address, { REPORT_DIR: reportDir });
    try {
      // An order that nobody here made, so that the history is never empty.
      world.sandbox.addPastOrders({ count: 1_500 });
      const stage = stageOf(world);
      const bought = await strikeEverything(stage, workers, blow, cells);
      heal(stage);
      const lastOrder = bought.some(({ moment }) => 'beyond' in moment) ? Date.now() + MUCH_LATER_MS : 0;
      say(`${name}: ${bought.length} purchases, ${workers.struck} blows; waiting for them to end`);
      const references = bought.map(({ referenceId }) => referenceId);
      const seen = await seeThrough(world, references);
      // What the partner books long after the settling time must be in its books before they are the judge.
      await pause(Math.max(0, lastOrder - Date.now()));
      const verdict = await judge(world, references);
      const row = rowOf(name, bought, seen, verdict);
      rows.push(row);
      say([`${name}: ${complaints(row, bought).join('\n') || 'flawless'}`, ...decisions(seen, bought)].join('\n'));
      expect(row.wrong).toEqual(withoutUnplaced());
      expect(await unreported(world, verdict.boughtTwice)).toEqual([]);
    } finally {
      await workers.end();
      await world.close();
      await rm(reportDir, { recursive: true, force: true });
    }
  }
});

/** The other moments come first: what keeps a history unreadable must be over before a person is asked. */
async function strikeEverything(
  stage: Stage,
  workers: Workers,
  blow: Blow,
  cells: { placing: Cell[]; others: Cell[] },
): Promise<Bought[]> {
  await workers.start();
  const bought = await startAll(stage, cells.others);
  await untilReached(bought);
  if (bought.length > 0) {
    workers.strike(blow);
    heal(stage);
    await workers.start();
  }
  for (const wave of waves(cells.placing, blow === 'SIGSTOP' ? FROZEN_WAVE : WAVE)) {
    bought.push(...(await strikeWhilePlacing(stage, wave, () => workers.strike(blow), wave.length)));
    await workers.start();
  }
  return bought;
}

/** The worker processes of a world: one that works, and those that were struck. */
class Workers {
  struck = 0;
  private current: WorkerProcess | undefined;
  private readonly all: WorkerProcess[] = [];
  private readonly thaws: NodeJS.Timeout[] = [];

  constructor(
    private readonly world: World,
    private readonly address: string,
    private readonly env: Environment,
  ) {}

  async start(): Promise<void> {
    this.current = await startWorkerProcess(this.world, this.address, this.env);
    this.all.push(this.current);
  }

  strike(blow: Blow): void {
    const victim = this.current!;
    this.struck += 1;
    if (blow !== 'SIGSTOP') return void victim.end(blow);
    victim.signal('SIGSTOP');
    this.thaws.push(setTimeout(() => victim.signal('SIGCONT'), FROZEN_MS));
  }

  async end(): Promise<void> {
    for (const thaw of this.thaws) clearTimeout(thaw);
    await Promise.all(this.all.map((worker) => worker.end('SIGKILL')));
  }
}

function waves<T>(cells: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(cells.length / size) }, (_, at) => cells.slice(at * size, (at + 1) * size));
}

function withoutUnplaced() {
  const { unplaced: _, ...wrong } = FLAWLESS;
  return wrong;
}

/** Progress, past Jest's own reporter. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
