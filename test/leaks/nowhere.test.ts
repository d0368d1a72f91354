import { purchaseWorkflowId } from '../../src/contracts/names';
import { type Canary, type Evidence, findLeaks, inWords } from './support/search';
import {
  RUDE_CHECKOUTS,
  STRANGE_ORDERS,
  STRANGERS_KEY,
  type UglyPurchase,
  WRONG_PLACEMENTS,
  wrongLooks,
} from './support/purchases';
import { secretCanaries, type Stage, startStage } from './support/stage';
import { readTemporal, textOf } from './support/temporal-evidence';
import { runStarter, startWorkerProcess, type WorkerProcess } from './support/worker-process';

const ALL = { ...wrongLooks(), ...WRONG_PLACEMENTS, ...STRANGE_ORDERS, ...RUDE_CHECKOUTS };

describe('after real purchases on every ugly path', () => {
  let stage: Stage;
  let workers: WorkerProcess[];
  const outcomes: Record<string, string> = {};
  const untouched: string[] = [];
  let canaries: Canary[];

  beforeAll(async () => {
    stage = await startStage(process.env.TEST_TEMPORAL_ADDRESS!);
    workers = await Promise.all(
      ['json', 'pretty'].map((format) => startWorkerProcess({ ...stage.env, LOG_LEVEL: 'trace', LOG_FORMAT: format })),
    );
    await Promise.all(Object.entries(ALL).map(([name, purchase]) => seeThrough(name, purchase)));
    await endInAnotherWay();
    canaries = [
      ...secretCanaries(),
      { name: "a stranger's key", value: STRANGERS_KEY },
      ...(await stage.issuedKeys()).map((value, index) => ({ name: `issued key ${index}`, value })),
    ];
  }, 170_000);

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await stage.close();
  });

  async function seeThrough(name: string, { decisions = [], outcome: _, ...purchase }: UglyPurchase): Promise<void> {
    const referenceId = await stage.buy({ name, ...purchase });
    for (const decision of decisions) {
      await stage.untilState(referenceId, 'HELD');
      await stage.resolve(referenceId, decision);
    }
    outcomes[name] = (await stage.starter.result(referenceId)).outcome;
    if (purchase.twist && stage.partner.twisted(referenceId) === 0) untouched.push(name);
  }

  /** A purchase that a person cancels, and one that is terminated while the checkout refuses it. */
  async function endInAnotherWay(): Promise<void> {
    const cancelled = await stage.buy({ name: 'cancelled', items: { 'demo-seconds': 1 } });
    await stage.client.workflow.getHandle(purchaseWorkflowId(cancelled)).cancel();
    const terminated = await stage.buy({ name: 'terminated', checkout: ALL['echo-410']!.checkout });
    await stage.untilState(terminated, 'HELD');
    await stage.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate('the test says so');
    await stage.starter.result(cancelled);
  }

  const leaksIn = (evidence: Evidence[]) => inWords(findLeaks(canaries, evidence));

  it('went down those paths: each ended as it should, and none met a plain partner where an ugly one was meant', () => {
    expect(outcomes).toEqual(Object.fromEntries(Object.entries(ALL).map(([name, { outcome }]) => [name, outcome])));
    expect(untouched).toEqual([]);
  });

  it('the checkout has the keys that the search looks for, so that it looks for the right ones', () => {
    const taken = stage.taken.map((text) => ({ place: 'checkout', text }));
    const found = new Set(findLeaks(canaries, taken).map(({ canary }) => canary));
    expect([...found].filter((name) => name.startsWith('issued key')).length).toBeGreaterThan(20);
  });

  it('no secret is in Temporal: history, memo, attributes, results, failures, details, pending work', async () => {
    const evidence = await readTemporal(stage.client, stage.taskQueue);
    expect(evidence.length).toBeGreaterThan(5 * Object.keys(ALL).length);
    expect(leaksIn(evidence)).toEqual([]);
  });

  it('no secret is in what the workers wrote at level trace, in either format, nor in their metrics', async () => {
    const logs = workers.map((worker, index) => ({ place: `log ${index}`, text: textOf(worker.said()) }));
    const metrics = await Promise.all(workers.map((worker) => worker.metrics()));
    expect(metrics.join()).toContain('fulfilment_delivery_attempts');
    expect(logs.every(({ text }) => text.includes('event delivered'))).toBe(true);
    expect(leaksIn([...logs, ...metrics.map((text) => ({ place: 'metrics', text }))])).toEqual([]);
  });

  it('no secret is in what the starter prints, for people or as JSON', async () => {
    const { TEMPORAL_ADDRESS = '', TEMPORAL_TASK_QUEUE = '' } = stage.env;
    const suffix = stage.taskQueue.slice(6, 14);
    const printed: Evidence[] = [];
    for (const name of ['plain', 'own-key-in-product-id', 'more-keys', 'place-half', 'terminated']) {
      for (const format of [[], ['--json']]) {
        const args = ['status', `${name}-${suffix}`, ...format];
        printed.push(await runStarter({ TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE }, ...args));
      }
    }
    expect(printed.filter(({ place }) => !place.endsWith('(0)'))).toEqual([]);
    expect(leaksIn(printed)).toEqual([]);
  });
});
