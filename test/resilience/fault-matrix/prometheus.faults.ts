import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../../sandbox';
import { closeAtEnd, temporaryFolder } from '../../support/clean-up';
import { startDevServer } from '../../support/dev-server';
import { freePort } from '../../support/free-port';
import { startWorkerProcess, workerEnvOf } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { log } from '../../support/log';
import { waitUntil } from '../../support/wait-until';

const MINUTE = 60_000;
const OPS = join(__dirname, '../../../ops');
const read = (file: string) => readFileSync(join(OPS, file), 'utf8');

/** Every expression of the dashboard, as Grafana would query it. */
function panels({ namespace, taskQueue }: TestEnvironment): Map<string, string> {
  const { panels: all } = JSON.parse(read('dashboard.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const asked = all.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, index): [string, string] => [`${title} ${index + 1}`, expr]),
  );
  const values: Record<string, string> = { namespace, taskQueue, __rate_interval: '1m' };
  return new Map(asked.map(([name, expr]) => [name, expr.replaceAll(/\$(\w+)/g, (_, of: string) => values[of] ?? '')]));
}

/** The metrics of each rule without its threshold: a healthy worker raises no alert, but the metrics must exist. */
function selectors(): Map<string, string> {
  const rules = [...read('rules.yml').matchAll(/alert: (\w+)\n\s+expr:([^]*?)\n\s+(?:for|labels):/g)];
  return new Map(
    rules.flatMap(([, alert = '', expr = '']) =>
      (expr.match(/\b(?:fulfilment|temporal)_\w+(?:\{[^}]*\})?|\bup\{[^}]*\}/g) ?? []).map((one): [string, string] => [
        `${alert}: ${one}`,
        one,
      ]),
    ),
  );
}

/** A real Prometheus with the project's rules that scrapes a worker every second. */
async function startPrometheus(worker: string) {
  const folder = temporaryFolder();
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(OPS, 'rules.yml')],
    scrape_configs: [{ job_name: 'fulfilment-worker', static_configs: [{ targets: [worker] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const where = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn('prometheus', [...where, `--web.listen-address=${address}`], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closeAtEnd(() => {
    child.kill('SIGKILL');
    return ended;
  });
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${address}${path}`, { headers: { connection: 'close' } });
    return ((await response.json()) as { data: unknown }).data;
  };
  await waitUntil('Prometheus responds', () => ask('/api/v1/status/buildinfo').then(Boolean, () => false));
  return {
    /** The current values of a query. */
    async values(query: string) {
      const found = (await ask(`/api/v1/query?query=${encodeURIComponent(query)}`)) as
        { result: { value: [number, string] }[] } | undefined;
      if (found === undefined) throw new Error(`Prometheus refuses ${query}`);
      return found.result.map(({ value: [, written] }) => Number(written));
    },
    /** The alerts whose expression is true now, without regard to their `for`. */
    async alerts() {
      const { alerts } = (await ask('/api/v1/alerts')) as { alerts: { labels: { alertname: string } }[] };
      return alerts.map(({ labels }) => labels.alertname);
    },
  };
}

/** Faults that can be caused within minutes, one after the other: each waits for its alerts. */
async function causeTrouble(env: TestEnvironment, ring: (...alerts: string[]) => Promise<void>): Promise<void> {
  const { sandbox, receiver, taskQueue } = env;
  const buy = (count: number, fault?: Omit<Fault, 'referenceId'>) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const referenceId = env.reference();
        if (fault) sandbox.addFault({ ...fault, referenceId });
        return env.buy({ 'demo-instant': 1 }, referenceId);
      }),
    );
  // A search before a placement, which is retried.
  sandbox.addFault({ operation: 'orders', action: { type: 'answer', status: 404 } });
  const delivered = await buy(6);
  const copies = { type: 'copies', count: 2 } as const;
  const double = await buy(1, { operation: 'place', when: 'after', commit: copies, action: { type: 'reset' } });
  await env.ended([...delivered, ...double]);
  await ring('ReconciliationMissing', 'DoublePurchase');

  await buy(6, { operation: 'place', times: 'always', action: { type: 'answer', status: 422 } });
  await env.client.workflow.start('purchaseWorkflow', { taskQueue, workflowId: `${taskQueue}-bad`, args: [{}] });
  await env.client.workflow.start('unknownWorkflow', { taskQueue, workflowId: `${taskQueue}-unknown` });
  await env.reconcile();
  await ring('PurchasesFailing', 'WorkflowFailed', 'WorkflowTasksFailing', 'ReconciliationFindings');

  sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 401 } });
  await buy(1);
  await ring('PartnerAccessDenied');
  sandbox.clearFaults();

  receiver.respondWith(() => 500);
  await buy(12);
  await ring('DeliveriesFailing', 'BalanceExhausted', 'BalanceLow');
  receiver.respondWith(() => 204);

  // It is a race how many of them get through before the circuit breaker opens, and so is which alert fires.
  sandbox.addFault({ operation: 'place', times: 'always', action: { type: 'reset' } });
  await buy(14);
  await ring('PurchasesHeld');
}

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
const testWithPrometheus = hasPrometheus ? it : it.skip;

testWithPrometheus(
  `every panel and every rule finds data in a Prometheus that scrapes a worker, and each fault fires its alert${hasPrometheus ? '' : ' [no prometheus here]'}`,
  async () => {
    const dbFile = join(temporaryFolder(), 'temporal.db');
    const server = await startDevServer({ dbFile });
    const env = await startTestEnvironment({
      address: server.address,
      worker: false,
      ownNamespace: true,
      pastOrders: 3,
      // For 21 orders.
      sandbox: { balance: 105, creditLimit: 0 },
      settings: { replace: 'never', placeWithinMs: MINUTE },
    });
    const METRICS_ADDRESS = `127.0.0.1:${await freePort()}`;
    const worker = await startWorkerProcess({ env: workerEnvOf(env, { PARTNER_MAX_RPS: '40', METRICS_ADDRESS }) });
    await worker.untilHealth('/readyz', 200);
    const prometheus = await startPrometheus(METRICS_ADDRESS);

    const missing = new Map([...panels(env), ...selectors()]);
    const rung = new Set<string>();
    const watch = async () => {
      for (const alert of await prometheus.alerts()) rung.add(alert);
      for (const [name, query] of missing) {
        const values = await prometheus.values(query);
        if (values.some((value) => !Number.isNaN(value))) missing.delete(name);
      }
    };
    const until = async (what: () => string, isThere: () => boolean) => {
      const isThereNow = async () => {
        await watch();
        return isThere();
      };
      await waitUntil(what, isThereNow, { everyMs: 1_000 });
    };
    await waitUntil('the worker was scraped twice', async () =>
      (await prometheus.values('count_over_time(up[1m])')).some((scrapes) => scrapes > 1),
    );
    await causeTrouble(env, (...alerts) =>
      until(
        () => `${alerts.join(', ')} ring; these rang: ${[...rung].join(', ')}`,
        () => alerts.every((alert) => rung.has(alert)),
      ),
    );
    await server.stop('SIGKILL');
    const failures = 'temporal_request_failure_total{status_code="TRANSPORT_ERROR"}';
    await waitUntil('a request to Temporal has failed', async () => (await prometheus.values(failures)).length > 0);
    await startDevServer({ dbFile, port: Number(server.address.split(':')[1]) });

    await until(
      () => `these have data: ${JSON.stringify([...missing], null, 2)}`,
      () => missing.size === 0,
    );
    await worker.end('SIGKILL');
    await until(
      () => 'NoWorker rings',
      () => rung.has('NoWorker'),
    );
    log(`alerts that rang: ${[...rung].toSorted().join(', ')}`);
  },
  30 * MINUTE,
);
