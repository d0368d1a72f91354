import * as policies from '../../../src/workflows/policies';
import { FAST } from '../../support/settings';

const production = {
  ...FAST,
  placeWithinMs: 3_600_000,
  pollIntervalMs: 30_000,
  watch: 'orders' as const,
  deadlineMs: 1_500_000,
  confirmWindowMs: 60_000,
  partnerTimeoutMs: 15_000,
  deliveryTimeoutMs: 15_000,
};

describe.each([
  ['the production defaults', production],
  ['the test settings', FAST],
])('the timeouts nest, with %s', (_, settings) => {
  it('a placement has one attempt, because a second one could buy twice', () => {
    expect(policies.placementOptions(settings).retry?.maximumAttempts).toBe(1);
  });

  it('when the server gives up a placement, none of its requests can still be on its way', () => {
    const lastByte = policies.placementMaxAgeMs(settings) + settings.partnerTimeoutMs;
    expect(policies.placementOptions(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a placement whose worker died is given up within 20 s, and can no longer write then', () => {
    const { heartbeatTimeout } = policies.placementOptions(settings);
    expect(heartbeatTimeout).toBeLessThan(20_000);
    expect(heartbeatTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    expect(policies.placementMaxAgeMs(settings)).toBeLessThanOrEqual(Number(heartbeatTimeout));
  });

  it('every activity that sends a request has time for at least one', () => {
    const requesting = [
      policies.historySearchOptions(settings),
      policies.pollingOptions(settings, 1),
      policies.deliveryOptions(settings),
    ];
    for (const { startToCloseTimeout } of requesting) {
      expect(startToCloseTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    }
  });

  it('a history search that waited for its permits still has time for its last request', () => {
    const lastByte = policies.searchPermitWaitMs(settings) + settings.partnerTimeoutMs;
    expect(policies.historySearchOptions(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a crashed poll is retried after the interval, never sooner', () => {
    const { retry } = policies.pollingOptions(settings, 1);
    expect(retry).toMatchObject({ initialInterval: settings.pollIntervalMs, backoffCoefficient: 1 });
  });

  it('a first poll and a first delivery have one attempt each and take at most 3 s of their workflow task together', () => {
    const options = [policies.firstPollOptions, policies.firstDeliveryOptions];
    expect(options.map(({ retry }) => retry)).toEqual([{ maximumAttempts: 1 }, { maximumAttempts: 1 }]);
    const most = options.map(({ scheduleToCloseTimeout }) => Number(scheduleToCloseTimeout));
    expect(most.reduce((total, ms) => total + ms)).toBeLessThanOrEqual(3_000);
  });

  it('placements and deliveries have the highest priority, the reconciliation the lowest', () => {
    const urgent = [policies.placementOptions(settings), policies.deliveryOptions(settings)];
    const others = [
      policies.historySearchOptions(settings),
      policies.pollingOptions(settings, 1),
      policies.reconciliationOptions,
    ];
    expect([...urgent, ...others].map(({ priority }) => priority?.priorityKey)).toEqual([1, 1, 2, 3, 5]);
  });

  it('an event is retried for longer than the promised day, and an attention notice at least twice after the outcome', () => {
    expect(policies.deliveryOptions(settings).scheduleToCloseTimeout).toBeGreaterThan(24 * 3_600_000);
    const { retry, scheduleToCloseTimeout } = policies.attentionNoticeOptions(settings);
    expect([retry?.maximumAttempts, scheduleToCloseTimeout]).toEqual([undefined, undefined]);
    expect(retry?.maximumInterval).toBeLessThan(policies.LAST_NOTICES_TIMEOUT_MS / 2);
  });

  it('a shutdown leaves a placement time to search and write, and a delivery time to read and post', () => {
    const { shutdownGraceTime, shutdownForceTime } = policies.shutdownOptions(settings);
    expect(shutdownGraceTime).toBeGreaterThan(2 * settings.partnerTimeoutMs);
    expect(shutdownGraceTime).toBeGreaterThan(settings.partnerTimeoutMs + settings.deliveryTimeoutMs);
    expect(shutdownForceTime).toBeGreaterThan(shutdownGraceTime);
  });

  it('a reconciliation ends before the next night', () => {
    expect(policies.reconciliationOptions.scheduleToCloseTimeout).toBeLessThan(policies.RECONCILIATION_TIMEOUT_MS);
    expect(policies.RECONCILIATION_TIMEOUT_MS).toBeLessThan(24 * 3_600_000);
  });
});

describe('confirming a placement of unknown outcome', () => {
  it('is over within eight hours and a window, even if every search fails as late as it can', () => {
    const { confirmWindowMs } = FAST;
    expect(policies.maxConfirmationMs(FAST)).toBe(8 * 3_600_000 + confirmWindowMs);
    expect(policies.maxConfirmationMs({ ...FAST, placeWithinMs: 720 * 3_600_000 })).toBeGreaterThan(720 * 3_600_000);
  });

  it('searches soon and then with growing gaps, over the whole window', () => {
    const delays = policies.confirmationDelaysMs({ confirmWindowMs: 60_000 });
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    expect(delays.reduce((total, delay) => total + delay, 0)).toBe(60_000);
  });

  it('counts absence only after no request can be on its way, but does not wait longer than an attempt may last', () => {
    expect(policies.placementInFlightMs(production)).toBeLessThan(
      Number(policies.placementOptions(production).startToCloseTimeout),
    );
    expect(policies.placementInFlightMs(production)).toBeGreaterThan(production.partnerTimeoutMs);
  });
});

describe('the history of a purchase stays bounded, because it never continues as new', () => {
  /** A quarter of the number of events at which the server terminates a workflow. */
  const MAX_EVENTS = 51_200 / 4;
  const LONGEST = 720 * 3_600_000;
  const [SEARCH, PLACEMENT, POLL] = [11, 13, 8];
  const searches = policies.confirmationDelaysMs({ confirmWindowMs: 1 });

  /** The maximum number of events in one round (activity, timer, workflow tasks), and the delay of the round. */
  const ROUNDS: [string, number, (round: number) => number][] = [
    ['a placement that is not sent', PLACEMENT, (round) => policies.placementDelayMs(round)],
    ['a placement that is confirmed each time', PLACEMENT + 7 * SEARCH, (round) => policies.placementDelayMs(round)],
    ['an order history that cannot be read, with the shortest window', SEARCH, () => searches.at(-1) ?? 0],
    ['an order that changes its status with each poll, at the shortest interval', POLL, () => 1],
  ];

  it.each(ROUNDS)('%s, for the longest configurable time', (_, eventsOfRound, retryDelayOf) => {
    let events = 0;
    for (let [round, ms] = [1, 0]; ms < LONGEST && events <= MAX_EVENTS; round++) {
      events += eventsOfRound;
      ms += Math.max(retryDelayOf(round), policies.delayFloorMs(events));
    }
    expect(events).toBeLessThan(MAX_EVENTS);
  });

  it('and the limit slows nothing down at the default settings', () => {
    const rounds = production.placeWithinMs / (production.confirmWindowMs + policies.placementDelayMs(60));
    expect(policies.delayFloorMs(rounds * (PLACEMENT + 7 * SEARCH))).toBe(0);
    expect(policies.delayFloorMs((production.placeWithinMs / policies.placementDelayMs(60)) * PLACEMENT)).toBe(0);
  });
});

describe('the delay before', () => {
  const inSeconds = (delayAfter: (times: number) => number) =>
    [1, 2, 3, 4, 5, 6, 60].map((times) => delayAfter(times) / 1_000);

  it('another placement attempt doubles up to a minute, and is never shorter than a Retry-After', () => {
    expect(inSeconds((attempt) => policies.placementDelayMs(attempt))).toEqual([2, 4, 8, 16, 32, 60, 60]);
    expect(policies.placementDelayMs(1, 90_000)).toBe(90_000);
  });

  it('the next check of a paused purchase grows to 5 minutes', () => {
    expect(inSeconds((times) => policies.breakerRetryDelayMs(production, times))).toEqual([
      30, 60, 120, 240, 300, 300, 300,
    ]);
  });

  it('a trial request of the circuit breaker grows from 30 s to 10 min, with several trials in the time to place', () => {
    expect(policies.circuitBreakerDelays(production)).toEqual({ firstDelayMs: 30_000, maxDelayMs: 600_000 });
    const { maxDelayMs } = policies.circuitBreakerDelays({ ...production, placeWithinMs: 600_000 });
    expect(maxDelayMs).toBe(100_000);
  });
});
