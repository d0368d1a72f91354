import type { Fault } from '../../../sandbox';
import type { PurchaseResult } from '../../../src/contracts/purchase';
import { historyOf } from '../../support/history';
import type { TestEnvironment } from '../../support/test-environment';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

type FaultAction = NonNullable<Fault['action']>;

const MINUTE = 60_000;
/** The defaults of a worker. */
const DEFAULTS = { firstPollMs: 5_000, pollIntervalMs: 30_000, deadlineMs: 25 * MINUTE };

describe('waiting with production intervals and time skipping', () => {
  const { env } = sharedTimeSkippingEnvironment({ settings: DEFAULTS, sandbox: { agePerPollMs: 30_000 } });

  it('records 40 polls and two status changes in at most 28 history events, where a timer loop needs 460', async () => {
    const result = await boughtInTime(env, { 'demo-slow': 1 });

    expect(result.outcome).toBe('DELIVERED');
    expect(env.sandbox.requests().keys).toBe(41);
    expect((await historyOf(env, result.referenceId)).length).toBeLessThanOrEqual(28);
  });

  it('polls no sooner than the first delay, and never more often than the interval, however often the status changes', async () => {
    const before = env.sandbox.requests().keys;
    const { referenceId } = await boughtInTime(env, { 'demo-flapping': 1 });

    const delivered = 1;
    const polls = env.sandbox.requests().keys - before - delivered;
    expect(polls).toBeGreaterThanOrEqual(4);
    const [placed = 0, last = 0, ...more] = await timesOfResponses(env, referenceId, ['placeOrder', 'pollUntilEnded']);
    expect(more).toEqual([]);
    const shortest = DEFAULTS.firstPollMs + (polls - 1) * DEFAULTS.pollIntervalMs;
    expect(last - placed).toBeGreaterThanOrEqual(shortest);
  });

  it('obeys a Retry-After of the partner at the first poll and of the checkout at the first delivery', async () => {
    const later = (status: number) => ({ status, headers: { 'retry-after': '600' } });
    env.sandbox.addFault({ operation: 'keys', times: 1, action: { type: 'answer', ...later(429) } });
    env.receiver.script(later(503));
    const { referenceId, outcome } = await boughtInTime(env, { 'demo-instant': 1 });

    expect(outcome).toBe('DELIVERED');
    const steps = ['placeOrder', 'pollUntilEnded', 'deliverSale'];
    const [placed = 0, polled = 0, delivered = 0] = await timesOfResponses(env, referenceId, steps);
    expect(polled - placed).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(delivered - polled).toBeGreaterThanOrEqual(10 * MINUTE);
  });

  it('ends OVERDUE after 25 minutes without a final status, neither earlier nor never', async () => {
    const result = await boughtInTime(env, { 'demo-never': 1 });

    expect(result.outcome).toBe('OVERDUE');
    const { startTime, closeTime } = await env.handleOf(result.referenceId).describe();
    const waited = Number(closeTime) - Number(startTime);
    expect(waited).toBeGreaterThanOrEqual(25 * MINUTE);
    expect(waited).toBeLessThan(26 * MINUTE);
    expect(result.reason).toBe('still PENDING at the deadline');
  });

  it.each<[string, FaultAction]>([
    [
      'the response has an unexpected shape; expected details.data.status: string',
      { type: 'merge', data: { status: 7 } },
    ],
    ['the partner returned 503', { type: 'answer', status: 503 }],
  ])('names the last error when the order could not be read: %s', async (seen, action) => {
    env.sandbox.addFault({ operation: 'keys', when: 'after', times: 'always', action });
    const result = await boughtInTime(env, { 'demo-never': 1 });
    env.sandbox.clearFaults();

    expect(result).toMatchObject({ outcome: 'OVERDUE', reason: `the order could not be read: ${seen}` });
  });
});

/**
 * Starts a purchase and skips time only after the worker has completed an activity. While no poller has taken a task,
 * the server's next timer is its last one, and it would skip everything.
 */
async function boughtInTime(env: TestEnvironment, items: Record<string, number>): Promise<PurchaseResult> {
  const referenceId = await env.buy(items);
  const handle = env.handleOf(referenceId);
  const isBegun = async () =>
    (await handle.fetchHistory()).events?.some((event) => event.activityTaskCompletedEventAttributes);
  await waitUntil('an activity is completed', isBegun);
  return env.starter.result(referenceId);
}

/** @returns when each completed activity of these types began its last attempt, in epoch ms on the server's clock */
async function timesOfResponses(env: TestEnvironment, referenceId: string, types: string[]): Promise<number[]> {
  const { events } = await env.handleOf(referenceId).fetchHistory();
  const all = events ?? [];
  const asked = all
    .filter((event) => types.includes(event.activityTaskScheduledEventAttributes?.activityType?.name ?? ''))
    .map(({ eventId }) => Number(eventId));
  return all
    .filter((event) => asked.includes(Number(event.activityTaskStartedEventAttributes?.scheduledEventId)))
    .map(({ eventTime }) => Number(eventTime?.seconds) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6));
}
