import { inParallel } from '../../src/activities/in-parallel';
import { purchaseWorkflowId } from '../../src/contracts/names';
import { type Collector, startCollector } from '../support/collector';
import { freePort } from '../support/free-port';
import type { Reply } from '../support/http-server';
import { operatorOf } from '../support/operator';
import { startReadyWorker, type WorkerProcess } from '../support/processes';
import { waitUntil } from '../support/wait-until';
import {
  type HostileEnvironment,
  runToEnd,
  secretCanaries,
  startHostileEnvironment,
} from './support/hostile-environment';
import { type Canary, type Evidence, findLeaks, inWords } from './support/leak-search';
import {
  RUDE_CHECKOUTS,
  STRANGE_ORDERS,
  STRANGERS_KEY,
  type UglyPurchase,
  WRONG_PLACEMENTS,
  type WrongLooks,
  wrongLooks,
} from './support/hostile-purchases';
import { readTemporal, textOf } from './support/temporal-evidence';

const ALL = { ...WRONG_PLACEMENTS, ...STRANGE_ORDERS, ...RUDE_CHECKOUTS };
/** Purchases mostly wait, but all of them together need the whole CPU. */
const AT_ONCE = 24;
/** Five minutes on two cores. */
const LIMIT_MS = 30 * 60_000;
const PATIENT = { withinMs: LIMIT_MS, everyMs: 200 };

describe('after real purchases with hostile partners and checkouts', () => {
  let environment: HostileEnvironment;
  let workers: WorkerProcess[];
  let collector: Collector;
  const outcomes: Record<string, string> = {};
  const untouched: string[] = [];
  const pending: Evidence[] = [];
  let canaries: Canary[];

  beforeAll(async () => {
    environment = await startHostileEnvironment();
    collector = await startCollector();
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '500' };
    workers = await Promise.all(
      ['json', 'pretty'].map(async (format) => {
        const METRICS_ADDRESS = `127.0.0.1:${await freePort()}`;
        return startReadyWorker({
          env: { ...environment.env, ...tracing, METRICS_ADDRESS, LOG_LEVEL: 'trace', LOG_FORMAT: format },
        });
      }),
    );
    await inParallel([...Object.entries(ALL), ...wrongLooks()], AT_ONCE, ([name, purchase]) =>
      'pass' in purchase ? lookThrough(name, purchase) : seeThrough(name, purchase),
    );
    await endInAnotherWay();
    canaries = [
      ...secretCanaries(),
      { name: "a stranger's key", value: STRANGERS_KEY },
      ...(await environment.issuedKeys()).map((value, index) => ({ name: `issued key ${index}`, value })),
    ];
  }, LIMIT_MS);

  async function seeThrough(name: string, { decisions = [], items, twist, checkout }: UglyPurchase): Promise<void> {
    const referenceId = await environment.buy({ name, items, twist, checkout });
    for (const decision of decisions) {
      await environment.untilState(referenceId, 'HELD', PATIENT);
      await operatorOf(environment, referenceId).resolve(decision);
    }
    outcomes[name] = (await environment.starter.result(referenceId)).outcome;
    if (twist && environment.partner.twisted(referenceId) === 0) untouched.push(name);
  }

  /**
   * Gives wrong responses first to the polls, then to the read for the delivery, and sees each while it is the last
   * failure.
   */
  async function lookThrough(name: string, { twist, pass }: WrongLooks): Promise<void> {
    const referenceId = await environment.buy({ name, twist });
    await seePending(referenceId, 2);
    const before = environment.partner.twisted(referenceId);
    pass(1);
    await seePending(referenceId, before + 2);
    pass(Infinity);
    outcomes[name] = (await environment.starter.result(referenceId)).outcome;
  }

  /** The second wrong response shows that the server has stored the first one as a failure. */
  async function seePending(referenceId: string, wrongResponses: number): Promise<void> {
    const handle = environment.client.workflow.getHandle(purchaseWorkflowId(referenceId));
    await waitUntil(
      `${referenceId} has got ${wrongResponses} wrong responses`,
      async () => {
        const { raw, status } = await handle.describe();
        pending.push({ place: `pending: ${referenceId}`, text: textOf(raw.pendingActivities) });
        return environment.partner.twisted(referenceId) >= wrongResponses || status.name !== 'RUNNING';
      },
      PATIENT,
    );
  }

  /** A cancelled purchase, and one that is terminated while the checkout refuses it. */
  async function endInAnotherWay(): Promise<void> {
    const cancelled = await environment.buy({ name: 'cancelled', items: { 'demo-seconds': 1 } });
    await environment.client.workflow.getHandle(purchaseWorkflowId(cancelled)).cancel();
    const terminated = await environment.buy({ name: 'terminated', checkout: ALL['echo-410']!.checkout });
    await environment.untilState(terminated, 'HELD', PATIENT);
    await environment.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate('the test says so');
    await environment.starter.result(cancelled);
  }

  const leaksIn = (evidence: Evidence[]) => inWords(findLeaks(canaries, evidence));

  it('each purchase ended as expected, and none missed its hostile response', () => {
    const looks = wrongLooks().map(([name]) => [name, 'DELIVERED']);
    const others = Object.entries(ALL).map(([name, { outcome = 'DELIVERED' }]) => [name, outcome]);
    expect(outcomes).toEqual(Object.fromEntries([...looks, ...others]));
    expect(untouched).toEqual([]);
  });

  it('the checkout received the keys that the search looks for', () => {
    const text = JSON.stringify([...environment.receiver.events.values()]);
    const found = new Set(findLeaks(canaries, [{ place: 'checkout', text }]).map(({ canary }) => canary));
    expect([...found].filter((name) => name.startsWith('issued key')).length).toBeGreaterThan(20);
  });

  it('Temporal stores no secret: not in histories, memos, attributes, results, failures, details or pending work', async () => {
    const evidence = await readTemporal(environment.client, environment.taskQueue);
    // Most texts of a purchase contain its id, which proves that the search reads them.
    const reading = evidence.filter(({ place, text }) => text.includes(place.split('purchase-')[1] ?? 'no purchase'));
    const kinds = reading.map(({ place }) => place.split(':')[0]);
    expect(kinds).toEqual(expect.arrayContaining(['list', 'describe', 'history', 'result']));
    expect(evidence.length).toBeGreaterThan(5 * Object.keys(ALL).length);
    expect(
      pending.filter(({ text }) =>
        /the partner returned|the response (is|has)|the connection to|complete response/.test(text),
      ).length,
    ).toBeGreaterThan(20);
    expect(leaksIn([...evidence, ...pending])).toEqual([]);
  });

  it('workers write no secret to their logs at level trace, in either format, nor to their metrics', async () => {
    const logs = workers.map((worker, index) => ({ place: `log ${index}`, text: textOf(worker.output()) }));
    const metrics = await Promise.all(workers.map((worker) => worker.metrics()));
    // All texts contain the name of the queue, which proves that the search reads them.
    const queue = { name: 'the queue', value: environment.taskQueue };
    const read = [...logs, ...metrics.map((text, index) => ({ place: `metrics ${index}`, text }))];
    expect(new Set(findLeaks([queue], read).map(({ place }) => place)).size).toBe(read.length);
    expect(logs.filter(({ text }) => !text.includes('event delivered'))).toEqual([]);
    expect(leaksIn(read)).toEqual([]);
  });

  it('spans contain no secret', async () => {
    await waitUntil('spans of deliveries arrived', () => collector.bodies.includes('deliver purchase.'));
    expect(collector.spans.length).toBeGreaterThan(100);
    expect(leaksIn([{ place: 'spans', text: collector.bodies }])).toEqual([]);
  });

  it('the starter prints no secret, as text or as JSON', async () => {
    const { TEMPORAL_ADDRESS = '', TEMPORAL_TASK_QUEUE = '' } = environment.env;
    const suffix = environment.taskQueue.slice(5, 13);
    const commands = ['plain', 'own-key-in-product-id', 'more-keys', 'place-half', 'terminated'].flatMap((name) => [
      ['status', `${name}-${suffix}`],
      ['status', `${name}-${suffix}`, '--json'],
    ]);
    const printed: Evidence[] = [];
    for (const command of commands) {
      printed.push(await runToEnd('starter', { TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE }, ...command));
    }
    expect(printed.filter(({ place }) => !place.endsWith('exit code 0'))).toEqual([]);
    expect(printed.filter(({ text }) => !text.includes(suffix))).toEqual([]);
    expect(leaksIn(printed)).toEqual([]);
  });

  it('the starter prints no secret about a partner that responds with secrets', async () => {
    const { PARTNER_BASE_URL = '', PARTNER_API_KEY = '' } = environment.env;
    const said = `${PARTNER_API_KEY} ${STRANGERS_KEY}`;
    const answers: Reply[] = [
      { status: 401, json: { message: said } },
      { status: 200, body: `<html>${said}` },
      { status: 200, json: { status: 200, success: true, details: { data: { orders: said, hits: said } } } },
    ];
    environment.partner.twist('search', async ({ nth }) => answers[nth - 1]);
    const printed: Evidence[] = [];
    for (const _ of answers) {
      printed.push(await runToEnd('starter', { PARTNER_BASE_URL, PARTNER_API_KEY }, 'orders', '--search', 'search'));
    }
    expect(printed.filter(({ place }) => !place.endsWith('exit code 1'))).toEqual([]);
    expect(leaksIn(printed)).toEqual([]);
  });
});
