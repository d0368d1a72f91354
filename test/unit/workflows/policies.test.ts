import {
  brakeStepOptions,
  brakeValidity,
  completedEventOptions,
  deliveryOptions,
  firstDeliveryOptions,
  firstPollOptions,
  historySearchOptions,
  letThroughPause,
  letThroughTimeout,
  nextLetThroughPause,
  noticeOptions,
  pauseFloor,
  placementInFlight,
  placementMaxAge,
  placementOptions,
  placementPause,
  pollingOptions,
  reconciliationOptions,
  settlingPauses,
  shutdownOptions,
} from '../../../src/workflows/policies';
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
    expect(placementOptions(settings).retry?.maximumAttempts).toBe(1);
  });

  it('when the server gives a placement up, no request of it can still be on its way', () => {
    const lastByte = placementMaxAge(settings) + settings.partnerTimeoutMs;
    expect(placementOptions(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a placement whose worker died is given up in under 20 s, and has no right to write any more then', () => {
    const { heartbeatTimeout } = placementOptions(settings);
    expect(heartbeatTimeout).toBeLessThan(20_000);
    expect(heartbeatTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    expect(placementMaxAge(settings)).toBeLessThanOrEqual(Number(heartbeatTimeout));
  });

  it('one request fits into every activity that makes one', () => {
    for (const { startToCloseTimeout } of [
      historySearchOptions(settings),
      pollingOptions(settings, 1),
      deliveryOptions(settings),
    ]) {
      expect(startToCloseTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    }
  });

  it('the brake waits behind no placement, and what stops sales is news for a day', () => {
    const { priority } = placementOptions(settings);
    expect([brakeStepOptions.priority, noticeOptions.priority]).toEqual([priority, priority]);
    expect(noticeOptions.scheduleToCloseTimeout).toBe(24 * 3_600_000);
    expect(noticeOptions.retry?.maximumAttempts).toBeUndefined();
  });

  it('a closed brake is in force for longer than its longest step', () => {
    const step = letThroughPause(settings, 100) + letThroughTimeout(settings);
    expect(brakeValidity(settings)).toBeGreaterThan(step + Number(brakeStepOptions.scheduleToCloseTimeout) + 60_000);
  });

  it('a crashed poll is tried again after the interval, never sooner', () => {
    const { retry } = pollingOptions(settings, 1);
    expect(retry).toMatchObject({ initialInterval: settings.pollIntervalMs, backoffCoefficient: 1 });
  });

  it('a first poll and a first delivery have one attempt each, and 3 s of their workflow task together', () => {
    const options = [firstPollOptions, firstDeliveryOptions];
    expect(options.map(({ retry }) => retry)).toEqual([{ maximumAttempts: 1 }, { maximumAttempts: 1 }]);
    const most = options.map(({ scheduleToCloseTimeout }) => Number(scheduleToCloseTimeout));
    expect(most.reduce((total, ms) => total + ms)).toBeLessThanOrEqual(3_000);
  });

  it('placements and deliveries wait for none but each other, polls for both, and the reconciliation for all', () => {
    const all = [placementOptions(settings), deliveryOptions(settings), pollingOptions(settings, 1)];
    const keys = [...all, reconciliationOptions, completedEventOptions(settings)].map(({ priority }) => priority);
    expect(keys.map((priority) => priority?.priorityKey)).toEqual([1, 1, 3, 5, 5]);
  });

  it('an event is tried for more than the day that is promised', () => {
    expect(deliveryOptions(settings).scheduleToCloseTimeout).toBeGreaterThan(24 * 3_600_000);
  });

  it('a shutdown lets a placement search and write, and a delivery read and post', () => {
    const { shutdownGraceTime, shutdownForceTime } = shutdownOptions(settings);
    expect(shutdownGraceTime).toBeGreaterThan(2 * settings.partnerTimeoutMs);
    expect(shutdownGraceTime).toBeGreaterThan(settings.partnerTimeoutMs + settings.deliveryTimeoutMs);
    expect(shutdownForceTime).toBeGreaterThan(shutdownGraceTime);
  });

  it('a reconciliation and its event end before the next night', () => {
    const { scheduleToCloseTimeout: reconciling } = reconciliationOptions;
    const { scheduleToCloseTimeout: event } = completedEventOptions(settings);
    expect(Number(reconciling) + Number(event)).toBeLessThan(23 * 3_600_000);
  });
});

describe('settling a placement of unknown outcome', () => {
  it('searches soon and then with growing gaps, over the whole settling time', () => {
    const pauses = settlingPauses({ confirmWindowMs: 60_000 });
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.reduce((total, pause) => total + pause, 0)).toBe(60_000);
  });

  it('counts absence only from when no request can be on its way: that is as long as the attempt may last', () => {
    expect(placementInFlight(production)).toBeLessThan(Number(placementOptions(production).startToCloseTimeout));
    expect(placementInFlight(production)).toBeGreaterThan(production.partnerTimeoutMs);
  });
});

describe('the pause before a placement is tried again', () => {
  it('doubles up to a minute', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((attempt) => placementPause(attempt))).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ]);
  });

  it('is never shorter than what the partner asked for', () => {
    expect(placementPause(1, 90_000)).toBe(90_000);
  });
});

describe('the history of a purchase stays bounded, because it never continues as new', () => {
  /** A quarter of what the server ends a workflow at. */
  const MOST_EVENTS = 51_200 / 4;
  const LONGEST = 720 * 3_600_000;
  const [SEARCH, PLACEMENT, POLL] = [11, 13, 8];
  const searches = settlingPauses({ confirmWindowMs: 1 });

  /** The events of one round, most of which an activity, its pause and their workflow tasks are, and its pause. */
  const ROUNDS: [string, number, (round: number) => number][] = [
    ['a placement that is not sent', PLACEMENT, (round) => placementPause(round)],
    ['a placement that settles each time', PLACEMENT + 7 * SEARCH, (round) => placementPause(round)],
    ['an order history that can not be read, under the shortest settling time', SEARCH, () => searches.at(-1) ?? 0],
    ['an order that changes its status with each poll, under the shortest interval', POLL, () => 1],
  ];

  it.each(ROUNDS)('%s, for the longest time that can be set', (_, eventsOfRound, pauseOf) => {
    let events = 0;
    for (let [round, ms] = [1, 0]; ms < LONGEST && events <= MOST_EVENTS; round++) {
      events += eventsOfRound;
      ms += Math.max(pauseOf(round), pauseFloor(events));
    }
    expect(events).toBeLessThan(MOST_EVENTS);
  });

  it('and nothing is slower for it at the default settings', () => {
    const rounds = production.placeWithinMs / (production.confirmWindowMs + placementPause(60));
    expect(pauseFloor(rounds * (PLACEMENT + 7 * SEARCH))).toBe(0);
    expect(pauseFloor((production.placeWithinMs / placementPause(60)) * PLACEMENT)).toBe(0);
  });
});

describe('the next purchase is let through by a closed brake', () => {
  const UNHURT = { failures: 0, nothings: 0, costsSales: false };

  it.each([
    ['after 10 s', UNHURT, 10],
    ['after 30 s, where it may cost a sale', { ...UNHURT, costsSales: true }, 30],
    ['after a minute, when one has failed', { ...UNHURT, failures: 1 }, 60],
    ['at once, when one has shown nothing', { ...UNHURT, nothings: 1 }, 0],
    [
      'at once, when one has shown nothing after several that failed',
      { nothings: 9, failures: 5, costsSales: true },
      0,
    ],
    ['after 10 s, when ten in a row have shown nothing', { ...UNHURT, nothings: 10, failures: 5 }, 10],
    ['after 10 min, when many have failed', { ...UNHURT, failures: 30 }, 600],
  ])('%s', (_, shown, seconds) => {
    expect(nextLetThroughPause(production, shown)).toBe(seconds * 1_000);
  });
});
