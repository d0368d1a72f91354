import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { HOUR } from '../../support/settings';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { startTimeSkippingServer } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

describe('a partner that is away for a month, on a clock that skips', () => {
  let server: TestWorkflowEnvironment;
  let env: TestEnvironment;

  beforeAll(async () => {
    server = await startTimeSkippingServer();
    const { address, client } = server;
    env = await startTestEnvironment({ address, client, settings: { placeWithinMs: 720 * HOUR } });
  }, 120_000);

  it('is asked to the end of the longest time that can be set, in a history that the server does not end', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } });
    const referenceId = await env.buy({ 'demo-instant': 1 });
    const handle = server.client.workflow.getHandle(`purchase-${referenceId}`);
    await waitUntil('the first attempt is over', async () => (await handle.describe()).historyLength > 10);

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'NOT_PLACED' });
    const { startTime, closeTime, historyLength } = await handle.describe();
    expect(Number(closeTime) - Number(startTime)).toBeGreaterThanOrEqual(720 * HOUR);
    expect(historyLength).toBeGreaterThan(4_000);
    expect(historyLength).toBeLessThan(51_200 / 4);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(0);
  }, 300_000);
});
