import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createBrakeActivities } from '../../../src/activities/operate-brake';
import type { PurchasingNotice } from '../../../src/contracts/brake';
import type { PausedPurchase } from '../../../src/temporal/client';

const NOTICE: PurchasingNotice = {
  type: 'purchasing.paused',
  at: '2026-01-01T00:00:00.000Z',
  kind: 'UNKNOWN',
  reason: 'none',
  details: {},
  deduplicationKey: 'run:1',
};

it('a change of the brake is counted once, however often its notice is tried', async () => {
  const counted: unknown[] = [];
  const starts = [() => Promise.reject(new Error('unavailable')), () => Promise.resolve()];
  const deps = {
    client: { workflow: { start: () => starts.shift()?.() } },
    metrics: { count: (...count: unknown[]) => counted.push(count) },
  } as unknown as ActivityDependencies;
  const { notifyPurchasing } = createBrakeActivities(deps);
  const attempt = () => new MockActivityEnvironment().run(() => notifyPurchasing(NOTICE));

  await expect(attempt()).rejects.toThrow('unavailable');
  await attempt();
  expect(counted).toEqual([['fulfilment_brake_changes', { change: 'closed', reason: 'UNKNOWN' }]]);
});

it.each<[string, () => AsyncGenerator<PausedPurchase>]>([
  ['fail', () => listThat(() => Promise.reject(new Error('unavailable')))],
  ['hang', () => listThat(() => new Promise(() => undefined))],
])(
  'where lists %s nobody is let through and nothing is said against it, so that the brake opens in the end',
  async (_how, paused) => {
    const { nextPaused } = createBrakeActivities({ purchases: { paused } } as unknown as ActivityDependencies);

    const next = new MockActivityEnvironment().run(() => nextPaused({ probe: false, tried: [] }));
    expect(await next).toEqual({ referenceId: undefined });
  },
);

async function* listThat(answer: () => Promise<PausedPurchase>): AsyncGenerator<PausedPurchase> {
  yield await answer();
}
