import { HOUR } from '../../support/settings';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

const TRIES = 3;

describe('a partner that is down for a month, with time skipping', () => {
  const { env } = sharedTimeSkippingEnvironment({ settings: { placeWithinMs: 720 * HOUR } });

  it('is retried for the longest configurable time, with a history below the limit at which the server terminates it', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } });
    const referenceId = await buyWithoutJump();

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'NOT_PLACED' });
    const { startTime, closeTime, historyLength } = await env.handleOf(referenceId).describe();
    expect(Number(closeTime) - Number(startTime)).toBeGreaterThanOrEqual(720 * HOUR);
    expect(historyLength).toBeGreaterThan(4_000);
    expect(historyLength).toBeLessThan(51_200 / 4);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  });

  /**
   * On a busy machine, the time-skipping server rarely skips to the end of a run, ten years ahead, while a worker still
   * works. Our code sets no such timeout, so that run says nothing about it.
   */
  async function buyWithoutJump(): Promise<string> {
    for (let tries = TRIES; ; tries--) {
      const referenceId = await env.buy({ 'demo-instant': 1 });
      const handle = env.handleOf(referenceId);
      await waitUntil('the first attempt is over', async () => (await handle.describe()).historyLength > 10);
      await env.starter.result(referenceId).catch(() => undefined);
      const { status } = await handle.describe();
      if (status.name !== 'TIMED_OUT' || tries === 1) return referenceId;
    }
  }
});
