import { HOUR } from '../../support/settings';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

describe('a partner that is down for a month, with time skipping', () => {
  const { env } = sharedTimeSkippingEnvironment({ settings: { placeWithinMs: 720 * HOUR } });

  it('is retried for the longest configurable time, with a history below the limit at which the server terminates it', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } });
    const referenceId = await env.buy({ 'demo-instant': 1 });
    const handle = env.handleOf(referenceId);
    await waitUntil('the first attempt is over', async () => (await handle.describe()).historyLength > 10);

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'NOT_PLACED' });
    const { startTime, closeTime, historyLength } = await handle.describe();
    expect(Number(closeTime) - Number(startTime)).toBeGreaterThanOrEqual(720 * HOUR);
    expect(historyLength).toBeGreaterThan(4_000);
    expect(historyLength).toBeLessThan(51_200 / 4);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  }, 300_000);
});
