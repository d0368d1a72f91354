import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createPollOrderActivities } from '../../../src/activities/poll-order';
import { startServer } from '../../support/http-server';
import { FAST } from '../../support/settings';
import { clientOf } from '../partner/fixtures';

const SCHEDULED = Date.parse('2026-01-01T12:00:00Z');

it.each([
  [503, 'PartnerUnavailable'],
  [404, 'OrderStillOpen'],
])(
  'the Retry-After of a %i is obeyed, but only for the time left, or Temporal would end the activity',
  async (status, type) => {
    const server = await startServer({ respond: () => ({ status, headers: { 'retry-after': '60' }, body: '' }) });
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

    await expect(poll).rejects.toMatchObject({ type, nextRetryDelay: 7_875 });
    expect(server.received).toHaveLength(1);
  },
);
