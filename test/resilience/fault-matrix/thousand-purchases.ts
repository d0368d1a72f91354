import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../sandbox';
import { type Bought, referencesOf } from '../support/kill';
import { auditAll } from '../../support/audit';
import { temporaryFolder } from '../../support/clean-up';
import { type DevServer, startDevServer } from '../../support/dev-server';
import { freePort } from '../../support/free-port';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import type { Answer } from '../../support/receiver';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { decideHolds } from './decide-holds';
import { decisions, type RunSummary, summaryOf } from './summary';

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
  confirmWindowMs: 5_000,
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
export async function buyAThousand(log: (line: string) => void): Promise<{ summary: RunSummary; bought: Bought[] }> {
  const seed = Math.abs(jest.getSeed());
  log(`1,000 purchases: seed ${seed} (npm run test:faults -- -t '1,000' --seed ${seed})`);
  const draw = seededRandom(seed);
  const server = await startRestartableServer();
  const environment = await startTestEnvironment({
    worker: false,
    address: server.address,
    pastOrders: 1_500,
    sandbox: { seed: `thousand-${seed}`, balance: 1_000_000, speed: SPEED },
    settings: SETTINGS,
  });
  const kills = killAgainAndAgain(environment, server.restart, draw, log);
  const bought = await startPurchases(environment, draw);
  await kills;
  environment.sandbox.clearFaults();
  log('1,000 purchases: all started, all kills done; waiting for them to end');
  const ends = await decideHolds(environment, referencesOf(bought));
  log(['1,000 purchases: all ended', ...decisions(ends, bought)].join('\n'));
  const audit = await auditAll(environment, referencesOf(bought));
  return { summary: summaryOf(`1,000 purchases, seed ${seed}`, bought, ends, audit), bought };
}

async function startRestartableServer(): Promise<{ address: string; restart: () => Promise<void> }> {
  const dbFile = join(temporaryFolder(), 'temporal.db');
  const port = await freePort();
  let server: DevServer = await startDevServer({ port, dbFile });
  return {
    address: server.address,
    async restart() {
      await server.stop('SIGKILL');
      server = await startDevServer({ port, dbFile });
    },
  };
}

/**
 * Kills the worker after drawn numbers of placements and a drawn rest in ms, so that the kills fall on the whole run however
 * fast it is.
 */
async function killAgainAndAgain(
  environment: TestEnvironment,
  restartServer: () => Promise<void>,
  draw: Random,
  log: (line: string) => void,
): Promise<void> {
  const { sandbox } = environment;
  const startWorker = () => startReadyWorker({ env: workerEnvOf(environment) });
  const kills = Array.from({ length: KILLS }, () => Math.floor(draw() * PURCHASES)).toSorted((a, b) => a - b);
  const rests = kills.map(() => draw() * 1_000);
  let worker = await startWorker();
  for (const [at, placements] of kills.entries()) {
    const isTime = () => sandbox.requests().place >= placements;
    await waitUntil(`${placements} orders are placed`, isTime, { withinMs: 15 * 60_000 });
    await sleep(rests[at]);
    await worker.end('SIGKILL');
    const { place, keys } = sandbox.requests();
    log(`kill ${at + 1} of ${KILLS}: ${place} placements and ${keys} polls so far`);
    if (at + 1 === KILLS / 2) {
      await restartServer();
      log('the Temporal server was killed and started again');
    }
    worker = await startWorker();
  }
}

async function startPurchases(environment: TestEnvironment, draw: Random): Promise<Bought[]> {
  const answers = new Map<string, Answer>();
  environment.receiver.answerWith(({ body }) => {
    const { referenceId } = body.data;
    const answer = answers.get(referenceId) ?? 204;
    answers.delete(referenceId);
    return answer;
  });
  const bought: Bought[] = [];
  for (let number = 1; number <= PURCHASES; number++) {
    const referenceId = `K-${number}`;
    const product = pick(PRODUCTS, draw);
    const name = `${product}${addFault(environment, answers, referenceId, draw)}`;
    await startSurely(environment, { [product]: 1 + Math.floor(draw() * 4) }, referenceId);
    bought.push({
      referenceId,
      crashPoint: { name, items: {}, arrange: () => async () => true },
      reached: async () => true,
    });
    await sleep(EVERY_MS);
  }
  return bought;
}

/** One purchase in five gets a fault of its own. @returns what it is, in words */
function addFault(
  environment: TestEnvironment,
  answers: Map<string, Answer>,
  referenceId: string,
  draw: Random,
): string {
  const lot = draw();
  if (lot < 0.1) {
    const action = pick(PLACING, draw);
    const when = draw() < 0.5 ? 'before' : 'after';
    environment.sandbox.addFault({ operation: 'place', referenceId, when, action });
    return `, place ${action?.type} ${when}`;
  }
  if (lot < 0.15) {
    environment.sandbox.addFault({ operation: 'orders', referenceId, times: 2, action: { type: 'hang' } });
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
async function startSurely(
  environment: TestEnvironment,
  items: Record<string, number>,
  referenceId: string,
): Promise<void> {
  const isStarted = () =>
    environment.buy(items, referenceId).then(
      () => true,
      () => false,
    );
  await waitUntil(`${referenceId} is started`, isStarted, { withinMs: 120_000, everyMs: 500 });
}

type Random = () => number;

/** A small generator of numbers from 0 to 1 that a seed repeats. */
function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick<T>(from: readonly T[], draw: Random): T {
  return from[Math.floor(draw() * from.length)]!;
}
