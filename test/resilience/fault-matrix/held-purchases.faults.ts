import { purchaseWorkflowId } from '../../../src/contracts/names';
import { auditAll, NO_FLAWS } from '../../support/audit';
import { eventsOf, intentionsOfTimedOut } from '../../support/history';
import { startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { referencesOf, untilSettled } from '../support/kill';
import { startLoad } from '../support/load';
import { log } from '../../support/log';

const MINUTE = 60_000;
const KILLS = 6;
const WAVE = 50;
/** Purchases are started at most at this pace. */
const EVERY_MS = 60;
const AT_ONCE = Number(process.env.FAULTS_AT_ONCE ?? 2_000);

/** The production settings, with shorter waits. */
const SETTINGS = {
  partnerTimeoutMs: 15_000,
  deliveryTimeoutMs: 15_000,
  placeWithinMs: 60 * MINUTE,
  deadlineMs: 25 * MINUTE,
  confirmWindowMs: 5_000,
  replace: 'answered',
} as const;

describe('holds under load', () => {
  const start = () =>
    startTestEnvironment({ worker: false, sandbox: { balance: 10_000_000 }, pastOrders: 100, settings: SETTINGS });
  const workerFor = (environment: TestEnvironment) => startReadyWorker({ env: workerEnvOf(environment) });

  it(
    `after ${KILLS} SIGKILLs of the worker in ${KILLS * WAVE} purchases, only purchases with a recorded intention are held`,
    async () => {
      const environment = await start();
      const references: string[] = [];
      let worker = await workerFor(environment);
      for (let kill = 1; kill <= KILLS; kill++) {
        references.push(...(await killInWave(environment, worker, Math.round((kill * WAVE) / (KILLS + 1)))));
        worker = await workerFor(environment);
      }

      const ends = await untilSettled(environment, references);
      const held = references.filter((referenceId) => ends.get(referenceId) === 'HELD');
      const timedOut = await timedOutPlacements(environment, references);
      const recorded = references.filter((_, at) => timedOut[at]?.includes(true));
      const unseen = held.filter((referenceId) => environment.sandbox.placeRequestsOf(referenceId) === 0);
      log(
        `${references.length} purchases, ${KILLS} SIGKILLs: ${timedOut.flat().length} placements died, ${recorded.length} with ` +
          `the intention on record, ${held.length} held, ${unseen.length} of which the partner never saw`,
      );
      const { unplaced, ...audit } = await auditAll(environment, references);
      expect({ ...audit, unplaced: [] }).toEqual(NO_FLAWS);
      expect(unplaced).toEqual(held);
      expect(held.filter((referenceId) => !recorded.includes(referenceId))).toEqual([]);
      expect(unseen.length).toBeLessThanOrEqual(1);
    },
    15 * MINUTE,
  );

  it(
    `none of ${AT_ONCE} purchases that start at once is held`,
    async () => {
      const environment = await start();
      await workerFor(environment);
      const startedAt = Date.now();
      const references = await Promise.all(
        Array.from({ length: AT_ONCE }, () => environment.buy({ 'demo-instant': 1 })),
      );
      const ends = await untilSettled(environment, references);
      const timedOut = await timedOutPlacements(environment, references);
      log(
        `${AT_ONCE} purchases at once: ended after ${Math.round((Date.now() - startedAt) / 1000)} s, ` +
          `${timedOut.flat().length} placements timed out, ${[...ends.values()].filter((end) => end === 'HELD').length} held`,
      );
      expect(references.filter((referenceId) => ends.get(referenceId) !== 'DELIVERED')).toEqual([]);
      expect(await auditAll(environment, references)).toEqual(NO_FLAWS);
    },
    30 * MINUTE,
  );
});

/**
 * Starts purchases one by one and kills the worker at the moment when the partner has read this many of their orders.
 */
async function killInWave(environment: TestEnvironment, worker: WorkerProcess, after: number): Promise<string[]> {
  const { sandbox } = environment;
  const before = sandbox.requests().place;
  const isTime = () => sandbox.requests().place >= before + after;
  const limits = { everyMs: 0 };
  const killed = waitUntil(`${after} orders are placed`, isTime, limits).then(() => worker.end('SIGKILL'));
  const load = startLoad(environment, EVERY_MS);
  await waitUntil(`${WAVE} are started`, () => load.count() >= WAVE);
  const references = referencesOf(await load.stop());
  await killed;
  return references;
}

/** For each purchase, whether each placement that ended without a response had recorded its intention. */
async function timedOutPlacements(environment: TestEnvironment, references: readonly string[]): Promise<boolean[][]> {
  const found: boolean[][] = [];
  for (const referenceId of references) {
    const read = () => eventsOf(environment, purchaseWorkflowId(referenceId)).catch(() => undefined);
    const events = await waitUntil(`the history of ${referenceId} is read`, read);
    found.push(intentionsOfTimedOut(events));
  }
  return found;
}
