import { setTimeout as sleep } from 'node:timers/promises';
import { startGate, type Gate } from '../../support/gate';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

/** On a clock 60 times as fast an hour is a minute. What the partner may take is not as short: the machine is no faster. */
const HOUR_MS = 60_000;
const SETTINGS = { placeWithinMs: HOUR_MS, confirmWindowMs: 1_000, partnerTimeoutMs: 2_000, deadlineMs: 5 * HOUR_MS };
/** Sales go on at this pace, which is not made faster. */
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
  // Reads go well, so nothing but the answers to placements shows it.
  ['silence of the placements alone', (env) => allAnswer(env, { type: 'hang' }, ['place'])],
];

describe('a partner that is down for an hour, at five sales a second', () => {
  it.each(OUTAGES)(
    'by %s: held are only purchases whose request was written and whose order never came',
    async (_, outage) => {
      const gate = await startGate();
      const env = await startTestEnvironment({
        circuitBreaker: true,
        settings: SETTINGS,
        pastOrders: 5,
        partnerGate: gate,
      });
      const references = await sellThrough(env, gate, outage);
      const states = new Map<string, string>();
      for (const referenceId of references) states.set(referenceId, await endOf(env, referenceId));

      for (const [referenceId, state] of states) await expectSound(env, referenceId, state);
      const counts = countsOf([...states.values()]);
      process.stdout.write(`${JSON.stringify(counts)}\n`);
      expect(counts.DELIVERED).toBeGreaterThan((BEFORE_MS + AFTER_MS) / SALE_EVERY_MS);
      // Without the circuit breaker each of 300 sales would be one.
      expect(counts.HELD ?? 0).toBeLessThan(30);
      expect(changedEvents(env.receiver)).toEqual([]);
      await env.close();
    },
    10 * HOUR_MS,
  );
});

/** Sells before, through and after the outage. @returns the references */
async function sellThrough(env: TestEnvironment, gate: Gate, outage: Outage): Promise<string[]> {
  const began = Date.now();
  const references: string[] = [];
  const sellUntil = async (ms: number) => {
    while (Date.now() - began < ms) {
      references.push(await env.buy({ 'demo-instant': 1 }));
      await sleep(Math.max(began + references.length * SALE_EVERY_MS - Date.now(), 0));
    }
  };
  await sellUntil(BEFORE_MS);
  const { end } = outage(env, gate);
  await sellUntil(BEFORE_MS + HOUR_MS);
  await end();
  await sellUntil(BEFORE_MS + HOUR_MS + AFTER_MS);
  return references;
}

async function endOf(env: TestEnvironment, referenceId: string): Promise<string> {
  return waitUntil(
    `${referenceId} has ended or is held`,
    async () => {
      const { state, execution } = await env.starter.status(referenceId);
      return state === 'HELD' || execution !== 'RUNNING' ? state : undefined;
    },
    { withinMs: 3 * HOUR_MS },
  );
}

async function expectSound(env: TestEnvironment, referenceId: string, state: string): Promise<void> {
  const { orderCount, requests, issued, received } = await env.audit(referenceId);
  const seen = { referenceId, state, orderCount, delivered: received.length };
  if (state === 'DELIVERED') expect({ ...seen, received }).toEqual({ ...seen, orderCount: 1, received: issued });
  else
    expect(seen).toEqual({
      referenceId,
      state: expect.stringMatching(/HELD|NOT_PLACED/) as string,
      orderCount: 0,
      delivered: 0,
    });
  if (state === 'HELD') expect({ referenceId, requests }).toEqual({ referenceId, requests: 1 });
}

function allAnswer(
  env: TestEnvironment,
  action: Parameters<TestEnvironment['sandbox']['addFault']>[0]['action'],
  operations: ('place' | 'orders' | 'keys' | 'products')[] = ['place', 'orders', 'keys', 'products'],
): { end(): void } {
  for (const operation of operations) env.sandbox.addFault({ operation, times: 'always', action });
  return { end: () => env.sandbox.clearFaults() };
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
