import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { purchaseWorkflowId } from '../../src/contracts/names';
import { referencesOf, untilSettled } from '../resilience/support/kill';
import { type Sale, startLoad, watchDeliveries } from '../resilience/support/load';
import { auditAll, NO_FLAWS } from '../support/audit';
import { startDevServer } from '../support/dev-server';
import { freePort } from '../support/free-port';
import { eventsOf, intentionsOfTimedOut } from '../support/history';
import { startReadyWorker, workerEnvOf, type WorkerProcess } from '../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment';
import { log } from '../support/log';
import { waitUntil } from '../support/wait-until';
import { startPostgreSql, useForServers } from './postgresql';

const MINUTE = 60_000;
const PURCHASES = 500;
const EVERY_MS = 200;
const PRODUCTS = ['demo-instant', 'demo-instant', 'demo-instant', 'demo-seconds'];
/** The fault happens after this many placements. */
const PLACED_BEFORE = 100;
const AWAY_MS = 30_000;

/** The defaults, except those that would only make the trial longer. */
const SETTINGS = {
  partnerTimeoutMs: 5_000,
  deliveryTimeoutMs: 5_000,
  pollIntervalMs: 2_000,
  confirmWindowMs: 10_000,
  deadlineMs: 15 * MINUTE,
  placeWithinMs: 15 * MINUTE,
} as const;

type Trial = Awaited<ReturnType<typeof startTrial>>;

describe('two workers on the production server under load', () => {
  it.each<[string, (trial: Trial) => Promise<void>]>([
    [
      'PostgreSQL killed and restarted after 30 s',
      async ({ postgresql }) => {
        await postgresql.stop('SIGQUIT');
        await sleep(AWAY_MS);
        postgresql.start();
      },
    ],
    [
      'the Temporal server killed and restarted',
      async ({ killServer, startServer }) => {
        await killServer();
        await startServer();
      },
    ],
    [
      'a worker killed and replaced',
      async ({ workers: [victim], startWorker }) => {
        await victim!.end('SIGKILL');
        await startWorker();
      },
    ],
  ])(
    '%s: no purchase is lost or bought twice, and no key is delivered twice',
    async (name, happen) => {
      const trial = await startTrial(name);
      const { environment } = trial;
      const deliveredAt = watchDeliveries(environment);
      const load = startLoad(environment, EVERY_MS, PRODUCTS);
      const isTime = () => environment.sandbox.requests().place >= PLACED_BEFORE;
      await waitUntil(`${PLACED_BEFORE} are placed`, isTime);
      const happenedAt = Date.now();
      await happen(trial);
      const overAt = Date.now();
      await waitUntil(`${PURCHASES} are begun`, () => load.count() >= PURCHASES);
      const sales = await load.stop();
      const references = referencesOf(sales);
      const ends = await untilSettled(environment, references);
      const held = references.filter((referenceId) => ends.get(referenceId) === 'HELD');
      writeFigures(name, { environment, deliveredAt, sales, held, happenedAt, overAt });

      expect([...new Set(ends.values())].filter((state) => state !== 'HELD')).toEqual(['DELIVERED']);
      const audit = await auditAll(environment, references);
      expect({ ...audit, unplaced: [] }).toEqual(NO_FLAWS);
      for (const referenceId of held) expect(await hasIntentionOnRecord(environment, referenceId)).toBe(true);
      await end(trial);
    },
    30 * MINUTE,
  );
});

/** The servers, the environment and the two workers of one trial. */
async function startTrial(name: string) {
  const postgresql = await startPostgreSql();
  useForServers(postgresql);
  const where = { dbFile: name, port: await freePort() };
  let server = await startDevServer(where);
  const environment = await startTestEnvironment({
    worker: false,
    address: server.address,
    pastOrders: 100,
    sandbox: { balance: 1_000_000 },
    settings: SETTINGS,
  });
  const workers: WorkerProcess[] = [];
  const startWorker = async () => void workers.push(await startReadyWorker({ env: workerEnvOf(environment) }));
  await startWorker();
  await startWorker();
  const killServer = () => server.stop('SIGKILL');
  const startServer = async () => void (server = await startDevServer(where));
  return { postgresql, killServer, startServer, environment, workers, startWorker };
}

async function end({ workers, environment, killServer, postgresql }: Trial): Promise<void> {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  await environment.close();
  await killServer();
  await postgresql.remove();
}

/** A purchase without an order may be held only if its attempt had recorded its intention. */
async function hasIntentionOnRecord(environment: TestEnvironment, referenceId: string): Promise<boolean> {
  return intentionsOfTimedOut(await eventsOf(environment, purchaseWorkflowId(referenceId))).includes(true);
}

interface Outcome {
  environment: TestEnvironment;
  deliveredAt: Map<string, number>;
  sales: readonly Sale[];
  held: readonly string[];
  happenedAt: number;
  overAt: number;
}

/** Adds figures to the report of `npm run test:cluster` when that command runs this test. */
function writeFigures(title: string, outcome: Outcome): void {
  const figures = figuresOf(outcome);
  log(`${title}: ${figures.map(([name, value]) => `${name} ${value}`).join(', ')}`);
  const { TEST_CLUSTER_FIGURES: file } = process.env;
  if (file) appendFileSync(file, `${JSON.stringify({ title, figures })}\n`);
}

function figuresOf(outcome: Outcome): [string, string | number][] {
  const { environment, deliveredAt, sales, held, happenedAt, overAt } = outcome;
  const { sandbox, receiver } = environment;
  const lasted = sales.flatMap(({ referenceId, startedAt }) => (deliveredAt.get(referenceId) ?? NaN) - startedAt);
  const sorted = lasted.filter((ms) => !Number.isNaN(ms)).toSorted((one, other) => one - other);
  const times = [...deliveredAt.values()].toSorted((one, other) => one - other);
  const pause = Math.max(...times.slice(1).map((at, index) => at - times[index]!));
  const next = times.find((at) => at > overAt);
  return [
    ['purchases', sales.length],
    ['starts that had to be retried', sales.filter(({ tries }) => tries > 1).length],
    ['placement requests', referencesOf(sales).reduce((sum, one) => sum + sandbox.placeRequestsOf(one), 0)],
    ['delivered', deliveredAt.size],
    ['held', held.length],
    ['delivery attempts', receiver.attempts.length],
    ['outage', seconds(overAt - happenedAt)],
    ['longest gap between deliveries', seconds(pause)],
    ['first delivery afterwards', next === undefined ? 'none' : seconds(next - overAt)],
    ['sale to keys, median', seconds(sorted[Math.floor(sorted.length / 2)] ?? NaN)],
    ['sale to keys, longest', seconds(sorted.at(-1) ?? NaN)],
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
