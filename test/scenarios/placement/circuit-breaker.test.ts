import { operatorOf } from '../../support/operator';
import {
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** Pauses derive from the confirmation window: the first trial request comes after 300 ms. */
const GUARDED: TestEnvironmentOptions = {
  circuitBreaker: true,
  pastOrders: 5,
  settings: { confirmWindowMs: 600 },
};

/** Not all of them: on an overloaded machine, the outcome of an attempt may be unknown. */
function firstPaused(env: TestEnvironment, references: readonly string[]): Promise<string> {
  return waitUntil('a purchase is paused', async () => {
    const states = await Promise.all(references.map((referenceId) => env.starter.status(referenceId)));
    return states.find(({ state }) => state === 'PAUSED')?.referenceId;
  });
}

it.concurrent(
  'an empty balance rejects five purchases and one trial per growing delay, and not every purchase',
  async () => {
    const env = await startTestEnvironment(GUARDED);
    await env.bought({ 'demo-instant': 1 });
    const noBalance = { type: 'answer', status: 402 } as const;
    const fault = env.sandbox.addFault({ operation: 'place', times: 'always', action: noBalance });
    const rejected = await env.buyMany(5);
    for (const { outcome } of await env.ended(rejected)) expect(outcome).toBe('REJECTED');
    const waiting = await env.buyMany(20);
    await waitUntil('two more were let through, one after the other', () => fault.hits >= 7);
    env.sandbox.clearFaults();

    const outcomes = (await env.ended(waiting)).map(({ outcome }) => outcome);
    const lost = outcomes.filter((outcome) => outcome === 'REJECTED').length;
    expect(lost).toBe(fault.hits - 5);
    expect(lost).toBeLessThan(6);
    expect(outcomes.filter((outcome) => outcome === 'DELIVERED')).toHaveLength(20 - lost);
  },
);

it.concurrent(
  'a partner that refuses the key gets one trial request at a time, and a purchase cancelled meanwhile buys nothing',
  async () => {
    const env = await startTestEnvironment(GUARDED);
    env.sandbox.settings({ apiKeys: ['rotated'] });
    const references = await env.buyMany(12);
    const cancelled = await firstPaused(env, references);
    const others = references.filter((referenceId) => referenceId !== cancelled);
    const why = async () => (await env.starter.status(cancelled)).explanation ?? '';
    await waitUntil('its status says why it is paused', async () =>
      /^new placements are paused: .*401/.test(await why()),
    );
    await operatorOf(env, cancelled).cancel();
    expect(await env.starter.result(cancelled)).toMatchObject({ outcome: 'CANCELLED' });
    env.sandbox.settings({ apiKeys: ['sandbox-key'] });

    for (const { outcome } of await env.ended(others)) expect(outcome).toBe('DELIVERED');
    for (const referenceId of others) expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
    expect(env.sandbox.placeRequestsOf(cancelled)).toBe(0);
  },
);

it.concurrent(
  'a delivered purchase that is started again while the breaker is open, and cancelled, delivers its order again',
  async () => {
    const env = await startTestEnvironment(GUARDED);
    const referenceId = env.reference();
    const args = [{ referenceId, items: [{ productId: 'demo-instant', quantity: 2 }] }];
    await (await env.startRaw(referenceId, { args })).result();
    env.sandbox.settings({ apiKeys: ['rotated'] });
    await firstPaused(env, await env.buyMany(8));
    const again = await env.startRaw(referenceId, { args });
    await again.cancel();
    env.sandbox.settings({ apiKeys: ['sandbox-key'] });

    expect(await again.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
  },
);

it.concurrent('a paused purchase gets one last attempt at its deadline, then ends NOT_PLACED', async () => {
  const env = await startTestEnvironment({ ...GUARDED, settings: { ...GUARDED.settings, placeWithinMs: 5_000 } });
  env.sandbox.settings({ apiKeys: ['rotated'] });
  const references = await env.buyMany(8);

  const results = await env.ended(references);
  expect(results.map(({ outcome }) => outcome)).toEqual(references.map(() => 'NOT_PLACED'));
  expect(results.some(({ reason = '' }) => reason.includes('new placements are paused'))).toBe(true);
});
