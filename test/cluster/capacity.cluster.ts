import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../support/log';
import { startDevServer } from '../support/dev-server';
import { startReadyWorker, workerEnvOf } from '../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment';
import { waitUntil } from '../support/wait-until';
import { type PostgreSql, startPostgreSql, useForServers } from './postgresql';

const MINUTE = 60_000;
/** `npm run docs` puts these costs into docs/performance.md. */
const KEPT = join(__dirname, '../../bench/capacity.json');

const PURCHASES = 400;
const AT_ONCE = 50;
const OPEN = 400;
const POLL_INTERVAL_MS = 10_000;
const WINDOW_MS = 60_000;

/** CPU time of each part in ms. */
interface Costs {
  server: number;
  database: number;
  worker: number;
}

it(
  'measures the capacity of one worker and one production server',
  async () => {
    const atOnce = await measure('orders', measureAtOnce);
    const orders = await measure('orders', measureOpen);
    const history = await measure('history', measureOpen);
    const { TEST_CLUSTER_MACHINE: machine } = process.env;
    const about = { measuredAt: new Date().toISOString(), machine, purchases: PURCHASES, open: OPEN };
    const kept = { ...about, ...atOnce, orders, history };
    writeFileSync(KEPT, `${JSON.stringify(kept, undefined, 2)}\n`);
    log(JSON.stringify(kept, undefined, 2));
    expect(atOnce.delivered).toBe(PURCHASES);
  },
  30 * MINUTE,
);

/** Runs a measurement in a new environment, so no work is left over from another one. */
async function measure<T>(
  watch: 'orders' | 'history',
  work: (environment: TestEnvironment, postgresql: PostgreSql) => Promise<T>,
): Promise<T> {
  const postgresql = await startPostgreSql();
  useForServers(postgresql);
  const server = await startDevServer();
  const environment = await startTestEnvironment({
    worker: false,
    address: server.address,
    sandbox: { balance: 1_000_000 },
    settings: {
      watch,
      partnerTimeoutMs: 15_000,
      deliveryTimeoutMs: 15_000,
      firstPollMs: 0,
      pollIntervalMs: POLL_INTERVAL_MS,
      confirmWindowMs: MINUTE,
      deadlineMs: 60 * MINUTE,
      placeWithinMs: 60 * MINUTE,
    },
  });
  const worker = await startReadyWorker({ env: workerEnvOf(environment) });
  try {
    return await work(environment, postgresql);
  } finally {
    await worker.end('SIGKILL');
    await environment.close();
    await server.stop('SIGKILL');
    await postgresql.remove();
  }
}

async function measureAtOnce(environment: TestEnvironment, postgresql: PostgreSql) {
  const { receiver, starter } = environment;
  const first = await environment.buy({ 'demo-instant': 1 });
  await starter.result(first);
  const [bytesBefore, before, startedAt] = [sizeOf(postgresql), costs(), Date.now()];
  await buyAll(environment, PURCHASES, 'demo-instant');
  const isDelivered = () => receiver.attempts.length > PURCHASES;
  await waitUntil('all are delivered', isDelivered);
  const seconds = (Date.now() - startedAt) / 1_000;
  await sleep(2_000);
  return {
    delivered: receiver.attempts.length - 1,
    purchasesPerSecond: PURCHASES / seconds,
    purchase: perOne(before, costs(), PURCHASES),
    bytesPerPurchase: (sizeOf(postgresql) - bytesBefore) / PURCHASES,
  };
}

async function measureOpen(environment: TestEnvironment): Promise<Costs> {
  await buyAll(environment, OPEN, 'demo-never');
  const arePlaced = () => environment.sandbox.requests().place >= OPEN;
  await waitUntil('all are placed', arePlaced);
  await sleep(2 * POLL_INTERVAL_MS);
  const before = costs();
  await sleep(WINDOW_MS);
  return perOne(before, costs(), (OPEN * WINDOW_MS) / POLL_INTERVAL_MS);
}

async function buyAll(environment: TestEnvironment, count: number, product: string): Promise<void> {
  for (let started = 0; started < count; started += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => environment.buy({ [product]: 1 })));
  }
}

function perOne(before: Costs, after: Costs, count: number): Costs {
  const used = (part: keyof Costs) => (after[part] - before[part]) / count;
  return { server: used('server'), database: used('database'), worker: used('worker') };
}

/** CPU used so far by the processes of this test: fields 14 to 17 of `stat` in hundredths of a second, see proc(5). */
function costs(): Costs {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const processes = all.flatMap((pid) => processOf(Number(pid)));
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && isOurs(parents.get(pid)));
  const sum = (name: string) =>
    processes.filter((one) => one.name === name && isOurs(one.parent)).reduce((total, { cpuMs }) => total + cpuMs, 0);
  return { server: sum('temporal-server'), database: sum('postgres'), worker: sum('node') };
}

function processOf(pid: number): { pid: number; parent: number; name: string; cpuMs: number }[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), name, cpuMs: ticks * 10 }];
  } catch {
    // The process has ended meanwhile.
    return [];
  }
}

/** Size of the tables and indexes in bytes. */
function sizeOf({ passwordFile }: PostgreSql): number {
  const base = join(dirname(passwordFile), 'data/base');
  const files = readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((total, { parentPath, name }) => total + statSync(join(parentPath, name)).size, 0);
}
