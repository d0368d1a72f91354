import { setTimeout as sleep } from 'node:timers/promises';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import type { PurchaseSettings } from '../../../src/contracts/purchase';
import { placementMaxAgeMs, placementOptions } from '../../../src/workflows/policies';
import {
  booked,
  type CrashPoint,
  delivering,
  faulty,
  type FaultyEnvironment,
  placing,
  polling,
  searching,
  settling,
} from '../support/crash-points';
import {
  type Bought,
  killWhilePlacing,
  recover,
  referencesOf,
  startAll,
  untilReached,
  untilSettled,
} from '../support/kill';
import { auditAll, NO_FLAWS } from '../../support/audit';
import { eventsOf } from '../../support/history';
import { type ProcessEnv, startReadyWorker, workerEnvOf } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/**
 * The circuit breaker opens meanwhile. Its short pauses come from the confirmation window, and each purchase gets
 * through in turn.
 */
const PATIENT = { pollIntervalMs: 300, confirmWindowMs: 4_000 };

/** Every step of a purchase, every kind of fault, and the pairs of them in which money is at risk. */
const CRASH_POINTS: CrashPoint[] = [
  searching('hangs', { type: 'hang' }),
  searching('is refused with 503', { type: 'answer', status: 503 }),
  placing('hangs', 'before', { action: { type: 'hang' } }),
  placing('hangs', 'after', { action: { type: 'hang' } }),
  placing('continues after the caller died', 'before', { action: { type: 'delay', ms: 2_000 } }),
  placing('drips', 'after', { action: { type: 'drip' } }),
  placing('returns 500 after booking the order', 'after', { action: { type: 'answer', status: 500 } }),
  placing('returns 500 without booking the order', 'before', { action: { type: 'answer', status: 500 } }),
  placing('breaks off', 'after', { action: { type: 'truncate', framing: 'none' } }),
  settling('hangs', 'after', { type: 'hang' }),
  settling('hangs', 'before', { type: 'hang' }),
  settling('is refused with 502', 'after', { type: 'answer', status: 502 }),
  polling('hang', { type: 'hang' }),
  polling('break off', { type: 'truncate', framing: 'chunked' }),
  delivering('hang'),
  delivering('take-and-hang'),
  delivering('take-and-reset'),
  delivering(503),
];
/** Killed at the moment when the partner books the first of them. */
const AT_THE_ANSWER = Array.from({ length: 6 }, booked);

describe('a worker process that receives a signal', () => {
  const start = async (replace: 'always' | 'answered' | 'never', settings: Partial<PurchaseSettings> = {}) =>
    faulty(await startTestEnvironment({ worker: false, settings: { ...PATIENT, ...settings, replace } }));

  const workerFor = (environment: TestEnvironment, env: ProcessEnv = {}) =>
    startReadyWorker({ env: workerEnvOf(environment, env) });

  /** Brings purchases to every crash point, then sends one signal. */
  async function killedAtEach(environment: FaultyEnvironment, kill: () => void): Promise<Bought[]> {
    const bought = await startAll(environment, CRASH_POINTS);
    await untilReached(bought);
    return [...bought, ...(await killWhilePlacing(environment, AT_THE_ANSWER, kill))];
  }

  it.concurrent.each([
    ['SIGKILL', 'always', 2, null],
    ['SIGTERM', 'answered', 1, 0],
  ] as const)(
    '%s at every crash point buys nothing twice and loses no key (PURCHASE_REPLACE=%s)',
    async (signal, replace, successors, exitCode) => {
      const environment = await start(replace);
      const victim = await workerFor(environment);
      const bought = await killedAtEach(environment, () => victim.signal(signal));
      await Promise.all(Array.from({ length: successors }, () => workerFor(environment)));

      const undelivered = await recover(environment, bought);
      const mayBeHeld = (line: string) => line.endsWith(': HELD') && !line.startsWith('before the write');
      expect(undelivered.filter((line) => replace === 'always' || !mayBeHeld(line))).toEqual([]);
      const { unplaced, ...audit } = await auditAll(environment, referencesOf(bought));
      expect({ ...audit, unplaced: [] }).toEqual(NO_FLAWS);
      expect(unplaced).toHaveLength(undelivered.length);
      expect((await victim.ended).code).toBe(exitCode);
    },
  );

  it.concurrent(
    'SIGSTOP beyond all timeouts, then SIGCONT, does not disturb what another worker did meanwhile',
    async () => {
      const environment = await start('always');
      const victim = await workerFor(environment);
      const bought = await killedAtEach(environment, () => victim.signal('SIGSTOP'));
      await workerFor(environment);
      const ends = recover(environment, bought);
      const { referenceId } = bought.find(
        ({ crashPoint }) => crashPoint.name === 'placing (before the commit): hangs',
      )!;
      await waitUntil('it is placed again', () => environment.sandbox.placeRequestsOf(referenceId) > 1);
      victim.signal('SIGCONT');

      expect(await ends).toEqual([]);
      expect(await victim.end('SIGTERM')).toBe(0);
      expect(await auditAll(environment, referencesOf(bought))).toEqual(NO_FLAWS);
    },
  );

  it.concurrent('SIGSTOP between search and write, then SIGCONT, sends no order', async () => {
    const environment = await start('never');
    const { sandbox } = environment;
    // One request every 2 s, so the placement waits for its permit between its search and its write.
    const victim = await workerFor(environment, { PARTNER_MAX_RPS: '0.5' });
    const bought = await startAll(environment, [polling('wait', { type: 'hang' })]);
    await waitUntil('it has searched', () => sandbox.requests().orders >= 1 + bought.length, { everyMs: 5 });
    victim.signal('SIGSTOP');
    expect(sandbox.requests().place).toBe(0);

    await workerFor(environment);
    const timedOut = () => Promise.all(bought.map((one) => hasTimedOut(environment, one)));
    await waitUntil('the placement has timed out', async () => (await timedOut()).every(Boolean));
    victim.signal('SIGCONT');
    expect(await victim.end('SIGTERM')).toBe(0);
    // The permit comes too late; the intention could no longer be recorded and the attempt would be too old as well.
    expect(sandbox.requests().place).toBe(0);

    const ends = await untilSettled(environment, referencesOf(bought));
    expect([...ends.values()]).toEqual(['HELD']);
    expect(sandbox.requests().place).toBe(0);
  });

  it.concurrent(
    'SIGSTOP after the write, then SIGCONT between the two timeouts of the attempt, does not count as unsent',
    async () => {
      const environment = await start('never', { confirmWindowMs: 20_000 });
      const { sandbox, settings } = environment;
      const victim = await workerFor(environment);
      const [bought] = await startAll(environment, [
        placing('is booked 25 s later', 'before', { action: { type: 'hang' }, commit: { type: 'late', ms: 25_000 } }),
      ]);
      await waitUntil('it has been read', () => sandbox.requests().place === 1, { everyMs: 5 });
      victim.signal('SIGSTOP');
      // In this window the process's own limit for the request is over, and the server still waits for the response.
      const { startToCloseTimeout } = placementOptions(settings);
      const ownLimitMs = placementMaxAgeMs(settings) + settings.partnerTimeoutMs + 1_000;
      await sleep((ownLimitMs + Number(startToCloseTimeout)) / 2);
      victim.signal('SIGCONT');

      expect(await recover(environment, [bought!])).toEqual([]);
      expect(sandbox.placeRequestsOf(bought!.referenceId)).toBe(1);
      expect(await auditAll(environment, referencesOf([bought!]))).toEqual(NO_FLAWS);
      expect(await victim.end('SIGTERM')).toBe(0);
    },
  );
});

async function hasTimedOut(environment: TestEnvironment, { referenceId }: Bought): Promise<boolean> {
  const events = await eventsOf(environment, purchaseWorkflowId(referenceId));
  return events.some((event) => event.activityTaskTimedOutEventAttributes);
}
