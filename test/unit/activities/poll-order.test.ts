import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createPollOrderActivities } from '../../../src/activities/poll-order';
import { startServer } from '../../support/http-server';
import { FAST } from '../../support/settings';
import { clientOf } from '../partner/fixtures';

const SCHEDULED = Date.parse('2026-01-01T12:00:00Z');

it('a Retry-After never exceeds the time left for the poll, because Temporal would then end the activity at once', async () => {
  const server = await startServer({ respond: () => ({ status: 503, headers: { 'retry-after': '60' }, body: '' }) });
  const now = () => SCHEDULED + 2_000;
  const parts = { partner: clientOf(server.url), now, settings: FAST, metrics: { count: () => {} } };
  const deps = parts as unknown as ActivityDependencies;
  const purchase = {
    orderId: 'o-1',
    referenceId: 'REF-1',
    firstRunId: 'run',
    fingerprintSecretId: 'k',
    productIds: [],
  };
  const polling = { attempt: 2, scheduledTimestampMs: SCHEDULED, scheduleToCloseTimeoutMs: 10_000 };
  const poll = new MockActivityEnvironment(polling, { logger: new DefaultLogger('ERROR') }).run(
    createPollOrderActivities(deps).pollUntilEnded,
    { ...purchase, firstDelayMs: 0, intervalMs: 1_000, watch: 'orders' as const, purchaseStartedAt: SCHEDULED },
  );

  await expect(poll).rejects.toMatchObject({ type: 'PartnerUnavailable', nextRetryDelay: 7_875 });
  expect(server.received).toHaveLength(1);
});
