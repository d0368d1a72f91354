import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../../src/sandbox/index';
import { judge } from '../crash/judge';
import { type Bought, until } from '../crash/strike';
import { type DevServer, freePort, startDevServer } from '../../support/dev-server';
import { startWorkerProcess, type WorkerProcess } from '../../support/processes';
import type { Answer } from '../../support/receiver';
import { startWorld, type World } from '../../support/world';
import { seeThrough } from './people';
import { decisions, type Row, rowOf } from './tally';

const PURCHASES = 1_000;
const KILLS = 20;
const SPEED = 10;
/** Purchases are started at this pace at most. */
const EVERY_MS = 60;

const SETTINGS = {
  firstPollMs: 500,
  pollIntervalMs: 1_000,
  deadlineMs: 6 * 60_000,
  placeWithinMs: 5 * 60_000,
  settleMs: 5_000,
  replace: 'always',
} as const;

const PRODUCTS = [
  ...['demo-instant', 'demo-instant', 'demo-instant', 'demo-seconds', 'demo-seconds', 'demo-partial', 'demo-short'],
  ...['demo-refunded', 'demo-failed', 'demo-strange', 'demo-image', 'demo-flapping'],
];
const PLACING: Fault['action'][] = [
  { type: 'hang' },
  { type: 'reset' },
  { type: 'answer', status: 500 },
  { type: 'answer', status: 429, headers: { 'retry-after': '1' } },
  { type: 'truncate', framing: 'none' },
  { type: 'delay', ms: 1_500 },
];
const DELIVERING: Answer[] = ['hang', 'reset', 'take-and-hang', 'take-and-reset', 503];

/**
 * 1,000 mixed purchases, one in five with a fault of its own, while the worker is killed 20 times and the server once.
 * Jest's `--seed` repeats what was drawn; what the machine does in between can't be repeated.
 */
export async function buyAThousand(say: (line: string) => void): Promise<{ row: Row; bought: Bought[] }> {
  const seed = Math.abs(jest.getSeed());
  say(`1,000 purchases: seed ${seed} (npm run test:faults -- --seed ${seed})`);
  const draw = dice(seed);
  const theatre = await open(seed);
  try {
    const { world } = theatre;
    const kills = killAgainAndAgain(theatre, draw, say);
    const bought = await startPurchases(world, draw);
    await kills;
    world.sandbox.clearFaults();
    say('1,000 purchases: all started, all kills done; waiting for them to end');
    const references = bought.map(({ referenceId }) => referenceId);
    const seen = await seeThrough(world, references);
    say(['1,000 purchases: all ended', ...decisions(seen, bought)].join('\n'));
    const verdict = await judge(world, references);
    return { row: rowOf(`1,000 purchases, seed ${seed}`, bought, seen, verdict), bought };
  } finally {
    await theatre.close();
  }
}

interface Theatre {
  world: World;
  startWorker(): Promise<WorkerProcess>;
  restartServer(): Promise<void>;
  close(): Promise<void>;
}

async function open(seed: number): Promise<Theatre> {
  const folder = await mkdtemp(join(tmpdir(), 'fulfilment-faults-'));
  const dbFile = join(folder, 'temporal.db');
  const port = await freePort();
  let server: DevServer = await startDevServer({ port, dbFile });
  const { address } = server;
  const sandbox = { seed: `thousand-${seed}`, balance: 1_000_000, speed: SPEED };
  const world = await startWorld({ worker: false, address, sandbox, settings: SETTINGS });
  world.sandbox.addPastOrders({ count: 1_500 });
  const workers: WorkerProcess[] = [];
  return {
    world,
    async startWorker() {
      const worker = await startWorkerProcess(world, address);
      workers.push(worker);
      return worker;
    },
    async restartServer() {
      const exited = new Promise((resolve) => server.process.once('exit', resolve));
      server.process.kill('SIGKILL');
      await exited;
      server = await startDevServer({ port, dbFile });
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
      await world.close();
      server.process.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The moments are drawn as numbers of placements and a rest in ms, so that they fall on the whole run however fast it is. */
async function killAgainAndAgain(theatre: Theatre, draw: Dice, say: (line: string) => void): Promise<void> {
  const { sandbox } = theatre.world;
  const moments = Array.from({ length: KILLS }, () => Math.floor(draw() * PURCHASES)).toSorted((a, b) => a - b);
  const rests = moments.map(() => draw() * 1_000);
  let worker = await theatre.startWorker();
  for (const [at, placements] of moments.entries()) {
    await until(() => sandbox.requests().place >= placements);
    await pause(rests[at]);
    await worker.end('SIGKILL');
    const { place, keys } = sandbox.requests();
    say(`kill ${at + 1} of ${KILLS}: ${place} placements and ${keys} looks so far`);
    if (at + 1 === KILLS / 2) {
      await theatre.restartServer();
      say('the Temporal server was killed and started again');
    }
    worker = await theatre.startWorker();
  }
}

async function startPurchases(world: World, draw: Dice): Promise<Bought[]> {
  const answers = new Map<string, Answer>();
  world.receiver.answerWith(({ body }) => {
    const { referenceId } = body.data;
    const answer = answers.get(referenceId) ?? 204;
    answers.delete(referenceId);
    return answer;
  });
  const bought: Bought[] = [];
  for (let number = 1; number <= PURCHASES; number++) {
    const referenceId = `K-${number}`;
    const product = pick(PRODUCTS, draw);
    const name = `${product}${burden(world, answers, referenceId, draw)}`;
    await startSurely(world, { [product]: 1 + Math.floor(draw() * 4) }, referenceId);
    bought.push({
      referenceId,
      moment: { name, items: {}, arrange: () => async () => true },
      reached: async () => true,
    });
    await pause(EVERY_MS);
  }
  return bought;
}

/** One purchase in five gets a fault of its own. @returns what it is, in words */
function burden(world: World, answers: Map<string, Answer>, referenceId: string, draw: Dice): string {
  const lot = draw();
  if (lot < 0.1) {
    const action = pick(PLACING, draw);
    const when = draw() < 0.5 ? 'before' : 'after';
    world.sandbox.addFault({ operation: 'place', referenceId, when, action });
    return `, place ${action?.type} ${when}`;
  }
  if (lot < 0.15) {
    world.sandbox.addFault({ operation: 'orders', referenceId, times: 2, action: { type: 'hang' } });
    return ', search hang';
  }
  if (lot < 0.2) {
    const answer = pick(DELIVERING, draw);
    answers.set(referenceId, answer);
    return `, delivery ${JSON.stringify(answer)}`;
  }
  return '';
}

/** As a checkout does while the server is away: again, under the same reference. */
async function startSurely(world: World, items: Record<string, number>, referenceId: string): Promise<void> {
  await until(
    () =>
      world.buy(items, referenceId).then(
        () => true,
        () => false,
      ),
    500,
  );
}

type Dice = () => number;

/** A small generator of numbers from 0 to 1 that a seed repeats. */
function dice(seed: number): Dice {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick<T>(from: readonly T[], draw: Dice): T {
  return from[Math.floor(draw() * from.length)]!;
}
