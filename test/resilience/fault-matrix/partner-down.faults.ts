import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../sandbox';
import { startGate, type Gate } from '../../support/gate';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { referencesOf, untilSettled } from '../support/kill';
import { startLoad } from '../support/load';
import { changedEvents } from '../../support/audit';
import { log } from '../../support/log';

/**
 * The clock runs 60 times as fast, so an hour is a minute. The partner's timeout does not shrink, because the machine
 * is no faster.
 */
const HOUR_MS = 60_000;
const SETTINGS = { placeWithinMs: HOUR_MS, confirmWindowMs: 1_000, partnerTimeoutMs: 2_000, deadlineMs: 5 * HOUR_MS };
/** Purchases are started at this pace, which is not scaled. */
const SALE_EVERY_MS = 200;
const BEFORE_MS = 5_000;
const AFTER_MS = 10_000;

type Outage = (env: TestEnvironment, gate: Gate) => { end(): Promise<void> | void };

const OUTAGES: [string, Outage][] = [
  [
    'refused connections',
    (_, gate) => {
      gate.close();
      return { end: () => gate.open() };
    },
  ],
  ['503', (env) => allAnswer(env, { type: 'answer', status: 503 })],
  ['silence', (env) => allAnswer(env, { type: 'hang' })],
  // Reads succeed, so only the responses to placements show the outage.
  ['silence on placements only', (env) => allAnswer(env, { type: 'hang' }, ['place'])],
];

describe('a partner that is down for an hour, at five purchases a second', () => {
  it.each(OUTAGES)(
    'by %s: only purchases whose request was sent and whose order never appeared are held',
    async (_, outage) => {
      const gate = await startGate();
      const env = await startTestEnvironment({
        circuitBreaker: true,
        sandbox: { balance: 1_000_000 },
        settings: SETTINGS,
        pastOrders: 5,
        partnerGate: gate,
      });
      const references = await sellThrough(env, gate, outage);
      const states = await untilSettled(env, references);
      for (const [referenceId, state] of states) await expectSound(env, referenceId, state);
      const countOf = (state: string) => [...states.values()].filter((one) => one === state).length;
      log(`${countOf('DELIVERED')} delivered, ${countOf('HELD')} held, ${countOf('NOT_PLACED')} not placed`);
      expect(countOf('DELIVERED')).toBeGreaterThan((BEFORE_MS + AFTER_MS) / SALE_EVERY_MS);
      // Without the circuit breaker, each of 300 purchases would be held.
      expect(countOf('HELD')).toBeLessThan(30);
      expect(changedEvents(env.receiver)).toEqual([]);
      await env.close();
    },
    10 * HOUR_MS,
  );
});

/** Starts purchases before, during and after the outage. @returns the references */
async function sellThrough(env: TestEnvironment, gate: Gate, outage: Outage): Promise<string[]> {
  const load = startLoad(env, SALE_EVERY_MS);
  await sleep(BEFORE_MS);
  const { end } = outage(env, gate);
  await sleep(HOUR_MS);
  await end();
  await sleep(AFTER_MS);
  return referencesOf(await load.stop());
}

async function expectSound(env: TestEnvironment, referenceId: string, state: string): Promise<void> {
  const { orderCount, requests, issued, received } = await env.audit(referenceId);
  const seen = { referenceId, state, orderCount, received };
  if (state === 'DELIVERED') return expect(seen).toEqual({ ...seen, orderCount: 1, received: issued });
  expect(seen).toEqual({ ...seen, state: expect.stringMatching(/HELD|NOT_PLACED/), orderCount: 0, received: [] });
  if (state === 'HELD') expect({ referenceId, requests }).toEqual({ referenceId, requests: 1 });
}

function allAnswer(
  { sandbox }: TestEnvironment,
  action: Fault['action'],
  operations: Fault['operation'][] = ['place', 'orders', 'keys', 'products'],
): { end(): void } {
  for (const operation of operations) sandbox.addFault({ operation, times: 'always', action });
  return { end: () => sandbox.clearFaults() };
}
