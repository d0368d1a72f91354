import { purchaseWorkflowId } from '../../../src/contracts/names';
import { auditAll, NO_FLAWS } from '../../support/audit';
import { eventsOf } from '../../support/history';
import { startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { deploymentOf } from '../../support/versions';
import { waitUntil } from '../../support/wait-until';
import { log } from '../../support/log';
import { referencesOf } from '../support/kill';
import { type Sale, startLoad, watchDeliveries } from '../support/load';

const MINUTE = 60_000;
const DEPLOYS = 10;
const WORKERS = 2;
const EVERY_MS = 500;
/** The sandbox completes an order at once, or after 8 s. */
const PRODUCTS: Record<string, number> = { 'demo-instant': 0, 'demo-seconds': 8_000, 'demo-image': 8_000 };
const SETTINGS = {
  firstPollMs: 500,
  pollIntervalMs: 10_000,
  deadlineMs: 5 * MINUTE,
  placeWithinMs: 5 * MINUTE,
  partnerTimeoutMs: 15_000,
  deliveryTimeoutMs: 15_000,
};

describe('ten rolling deploys of two workers under a steady load', () => {
  it(
    'without versions: each worker is stopped once its successor is ready, and no purchase fails or is bought twice',
    async () => {
      const env = await startEnvironment();
      const start = () => startReadyWorker({ env: workerEnvOf(env) });
      let running = [await start(), await start()] as const;
      // A task on its way to a stopping worker may be lost, so some purchases wait: docs/deploying.md#lost-tasks
      await measure('without versions', env, async () => {
        const [first, second] = running;
        running = [await start(), second];
        const stopped = stop(first);
        running = [running[0], await start()];
        await Promise.all([stopped, stop(second)]);
      });
    },
    15 * MINUTE,
  );

  it(
    'with versions: the workers of a version are stopped once nothing runs on it, and no task is lost',
    async () => {
      const env = await startEnvironment();
      const deployment = deploymentOf(env);
      const startVersion = async (version: string) => {
        const workers = await startWorkers(env, `${deployment.name}.${version}`);
        await deployment.setCurrent(version);
        return { version, workers };
      };
      let running = await startVersion('build-0');
      const lost = await measure('with versions', env, async (number) => {
        const old = running;
        running = await startVersion(`build-${number}`);
        await untilNothingRunsOn(env, `${deployment.name}:${old.version}`);
        await Promise.all(old.workers.map(stop));
      });
      expect(lost).toEqual([]);
    },
    15 * MINUTE,
  );
});

function startEnvironment(): Promise<TestEnvironment> {
  return startTestEnvironment({ worker: false, pastOrders: 100, settings: SETTINGS, sandbox: { balance: 1_000_000 } });
}

function startWorkers(env: TestEnvironment, version: string): Promise<WorkerProcess[]> {
  const options = { env: workerEnvOf(env, { WORKER_DEPLOYMENT_VERSION: version }) };
  return Promise.all(Array.from({ length: WORKERS }, () => startReadyWorker(options)));
}

async function stop(worker: WorkerProcess): Promise<void> {
  expect(await worker.end('SIGTERM')).toBe(0);
}

/** Lists lag by about a second, so it also waits for what has just started. */
async function untilNothingRunsOn({ client }: TestEnvironment, version: string): Promise<void> {
  const query = `TemporalWorkerDeploymentVersion = '${version}' AND ExecutionStatus = 'Running'`;
  let empty = 0;
  await waitUntil(
    `nothing runs on ${version}`,
    async () => {
      empty = (await client.workflow.count(query)).count === 0 ? empty + 1 : 0;
      return empty === 4;
    },
    { everyMs: 1_000 },
  );
}

/**
 * Starts purchases steadily while `deploy` is called again and again. None may fail, be bought twice or be held.
 *
 * @returns the purchases that lost a task
 */
async function measure(
  name: string,
  env: TestEnvironment,
  deploy: (number: number) => Promise<void>,
): Promise<string[]> {
  const deliveredAt = watchDeliveries(env);
  const load = startLoad(env, EVERY_MS, Object.keys(PRODUCTS));
  for (let number = 1; number <= DEPLOYS; number++) {
    await deploy(number);
    log(`${name}: deploy ${number} of ${DEPLOYS}, ${load.count()} purchases so far`);
  }
  const sales = await load.stop();
  expect(sales.filter(({ tries }) => tries > 1)).toEqual([]);
  const references = referencesOf(sales);
  // Queried one by one, so that the queries add no load.
  const results = [];
  for (const referenceId of references) results.push(await env.starter.result(referenceId));
  expect(results.filter(({ outcome }) => outcome !== 'DELIVERED')).toEqual([]);
  expect(references.filter((referenceId) => env.sandbox.placeRequestsOf(referenceId) !== 1)).toEqual([]);
  expect(references.filter((referenceId) => env.eventTypes(referenceId).join() !== 'purchase.delivered')).toEqual([]);
  expect(await auditAll(env, references)).toEqual(NO_FLAWS);

  const waits = await waitsOf(env, sales, deliveredAt);
  const lost = await lostTasks(env, references);
  const repeated = env.receiver.attempts.length - env.receiver.events.size;
  log(`${name}: ${references.length} purchases, ${lost.length} with a lost task, ${repeated} events sent twice`);
  log(`${name}: start to placement: ${distribution(waits.map(({ forPlacement }) => forPlacement))}`);
  log(`${name}: order ready to delivery: ${distribution(waits.map(({ forDelivery }) => forDelivery))}`);
  return lost;
}

/** How long each purchase waited, in ms, measured from its placement. */
async function waitsOf(
  { sandbox }: TestEnvironment,
  sales: readonly Sale[],
  deliveredAt: ReadonlyMap<string, number>,
): Promise<{ forPlacement: number; forDelivery: number }[]> {
  const waits = sales.map(async ({ referenceId, product, startedAt }) => {
    const [order] = await sandbox.ordersOf(referenceId);
    const placedAt = Date.parse(order!.createdAt);
    const forDelivery = deliveredAt.get(referenceId)! - placedAt - PRODUCTS[product]!;
    return { forPlacement: placedAt - startedAt, forDelivery };
  });
  return Promise.all(waits);
}

/**
 * The purchases with a task that was given to a worker and timed out. Of a retried poll only the last failure is known.
 */
async function lostTasks(env: TestEnvironment, references: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const referenceId of references) {
    const isLost = (await eventsOf(env, purchaseWorkflowId(referenceId))).some(
      (event) =>
        event.workflowTaskTimedOutEventAttributes ??
        event.activityTaskTimedOutEventAttributes ??
        event.activityTaskStartedEventAttributes?.lastFailure?.timeoutFailureInfo,
    );
    if (isLost) lost.push(referenceId);
  }
  return lost;
}

function distribution(waits: readonly number[]): string {
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))]! / 1_000).toFixed(1)} s`;
  return `median ${at(0.5)}, 99 of 100 within ${at(0.99)}, longest ${at(1)}`;
}
