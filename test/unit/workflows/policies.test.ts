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
  ['the defaults of production', production],
  ['the settings of tests', FAST],
])('the timeouts nest, with %s', (_, settings) => {
  it('a placement has one attempt, because a second could buy twice', () => {
    expect(policies.placementOptions(settings).retry?.maximumAttempts).toBe(1);
  });

  it('when the server gives a placement up, no request of it can still be on its way', () => {
    const lastByte = policies.placementMaxAge(settings) + settings.partnerTimeoutMs;
    expect(policies.placementOptions(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a placement whose worker died is given up in under 20 s, and has no right to write any more then', () => {
    const { heartbeatTimeout } = policies.placementOptions(settings);
    expect(heartbeatTimeout).toBeLessThan(20_000);
    expect(heartbeatTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    expect(policies.placementMaxAge(settings)).toBeLessThanOrEqual(Number(heartbeatTimeout));
  });

  it('one request fits into every activity that makes one', () => {
    const requesting = [
      policies.historySearchOptions(settings),
      policies.pollingOptions(settings, 1),
      policies.deliveryOptions(settings),
    ];
    for (const { startToCloseTimeout } of requesting) {
      expect(startToCloseTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    }
  });

  it('a search of the history that waited for its permits has time left for its last request', () => {
    const lastByte = policies.searchPermitWait(settings) + settings.partnerTimeoutMs;
    expect(policies.historySearchOptions(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a crashed poll is tried again after the interval, never sooner', () => {
    const { retry } = policies.pollingOptions(settings, 1);
    expect(retry).toMatchObject({ initialInterval: settings.pollIntervalMs, backoffCoefficient: 1 });
  });

  it('a first poll and a first delivery have one attempt each, and 3 s of their workflow task together', () => {
    const options = [policies.firstPollOptions, policies.firstDeliveryOptions];
    expect(options.map(({ retry }) => retry)).toEqual([{ maximumAttempts: 1 }, { maximumAttempts: 1 }]);
    const most = options.map(({ scheduleToCloseTimeout }) => Number(scheduleToCloseTimeout));
    expect(most.reduce((total, ms) => total + ms)).toBeLessThanOrEqual(3_000);
  });

  it('placements and deliveries wait for none but each other, the reconciliation for all', () => {
    const urgent = [policies.placementOptions(settings), policies.deliveryOptions(settings)];
    const others = [
      policies.historySearchOptions(settings),
      policies.pollingOptions(settings, 1),
      policies.reconciliationOptions,
    ];
    expect([...urgent, ...others].map(({ priority }) => priority?.priorityKey)).toEqual([1, 1, 2, 3, 5]);
  });

  it('an event is tried for more than the day that is promised, and an alert never delays an outcome for long', () => {
    expect(policies.deliveryOptions(settings).scheduleToCloseTimeout).toBeGreaterThan(24 * 3_600_000);
    const { retry, scheduleToCloseTimeout } = policies.alertOptions(settings);
    expect([retry?.maximumAttempts, scheduleToCloseTimeout]).toEqual([3, 60_000]);
  });

  it('a shutdown lets a placement search and write, and a delivery read and post', () => {
    const { shutdownGraceTime, shutdownForceTime } = policies.shutdownOptions(settings);
    expect(shutdownGraceTime).toBeGreaterThan(2 * settings.partnerTimeoutMs);
    expect(shutdownGraceTime).toBeGreaterThan(settings.partnerTimeoutMs + settings.deliveryTimeoutMs);
    expect(shutdownForceTime).toBeGreaterThan(shutdownGraceTime);
  });

  it('a reconciliation ends before the next night', () => {
    expect(policies.reconciliationOptions.scheduleToCloseTimeout).toBeLessThan(policies.reconciliationTimeout);
    expect(policies.reconciliationTimeout).toBeLessThan(24 * 3_600_000);
  });
});

describe('confirming a placement of unknown outcome', () => {
  it('is over within eight hours and a window, even if every search fails as late as it can', () => {
    const { confirmWindowMs } = FAST;
    expect(policies.longestConfirmation(FAST)).toBe(8 * 3_600_000 + confirmWindowMs);
    expect(policies.longestConfirmation({ ...FAST, placeWithinMs: 720 * 3_600_000 })).toBeGreaterThan(720 * 3_600_000);
  });

  it('searches soon and then with growing gaps, over the whole window', () => {
    const pauses = policies.confirmationPauses({ confirmWindowMs: 60_000 });
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.reduce((total, pause) => total + pause, 0)).toBe(60_000);
  });

  it('counts absence only from when no request can be on its way: that is as long as the attempt may last', () => {
    expect(policies.placementInFlight(production)).toBeLessThan(
      Number(policies.placementOptions(production).startToCloseTimeout),
    );
    expect(policies.placementInFlight(production)).toBeGreaterThan(production.partnerTimeoutMs);
  });
});

describe('the history of a purchase stays bounded, because it never continues as new', () => {
  /** A quarter of what the server ends a workflow at. */
  const MOST_EVENTS = 51_200 / 4;
  const LONGEST = 720 * 3_600_000;
  const [SEARCH, PLACEMENT, POLL] = [11, 13, 8];
  const searches = policies.confirmationPauses({ confirmWindowMs: 1 });

  /** The events of one round, most of which an activity, its pause and their workflow tasks are, and its pause. */
  const ROUNDS: [string, number, (round: number) => number][] = [
    ['a placement that is not sent', PLACEMENT, (round) => policies.placementPause(round)],
    ['a placement that is confirmed each time', PLACEMENT + 7 * SEARCH, (round) => policies.placementPause(round)],
    ['an order history that can not be read, under the shortest window', SEARCH, () => searches.at(-1) ?? 0],
    ['an order that changes its status with each poll, under the shortest interval', POLL, () => 1],
  ];

  it.each(ROUNDS)('%s, for the longest time that can be set', (_, eventsOfRound, pauseOf) => {
    let events = 0;
    for (let [round, ms] = [1, 0]; ms < LONGEST && events <= MOST_EVENTS; round++) {
      events += eventsOfRound;
      ms += Math.max(pauseOf(round), policies.pauseFloor(events));
    }
    expect(events).toBeLessThan(MOST_EVENTS);
  });

  it('and nothing is slower for it at the default settings', () => {
    const rounds = production.placeWithinMs / (production.confirmWindowMs + policies.placementPause(60));
    expect(policies.pauseFloor(rounds * (PLACEMENT + 7 * SEARCH))).toBe(0);
    expect(policies.pauseFloor((production.placeWithinMs / policies.placementPause(60)) * PLACEMENT)).toBe(0);
  });
});

describe('the pause before', () => {
  const inSeconds = (pauseAfter: (times: number) => number) =>
    [1, 2, 3, 4, 5, 6, 60].map((times) => pauseAfter(times) / 1_000);

  it('a placement is tried again doubles up to a minute, and is never shorter than what the partner asked for', () => {
    expect(inSeconds((attempt) => policies.placementPause(attempt))).toEqual([2, 4, 8, 16, 32, 60, 60]);
    expect(policies.placementPause(1, 90_000)).toBe(90_000);
  });

  it('a paused purchase asks again grows to 5 minutes', () => {
    expect(inSeconds((times) => policies.pausedPause(production, times))).toEqual([30, 60, 120, 240, 300, 300, 300]);
  });

  it('a trial of the circuit breaker is 30 s at first and 10 min at most, with several in the time to place', () => {
    expect(policies.circuitBreakerPauses(production)).toEqual({ firstPauseMs: 30_000, longestPauseMs: 600_000 });
    const { longestPauseMs } = policies.circuitBreakerPauses({ ...production, placeWithinMs: 600_000 });
    expect(longestPauseMs).toBe(100_000);
  });
});
