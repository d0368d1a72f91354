import { delivering, lookingUp, placementMaxAge, placing, watching } from '../../../src/workflows/policies';
import { FAST } from '../../support/settings';

const production = {
  ...FAST,
  placeWithinMs: 3_600_000,
  pollIntervalMs: 30_000,
  deadlineMs: 1_500_000,
  settleMs: 60_000,
  partnerTimeoutMs: 15_000,
  deliveryTimeoutMs: 15_000,
};

describe.each([
  ['the defaults of production', production],
  ['the settings of tests', FAST],
])('the timeouts nest, with %s', (_, settings) => {
  it('a placement has one attempt, because a second could buy twice', () => {
    expect(placing(settings).retry?.maximumAttempts).toBe(1);
  });

  it('when the server gives a placement up, no request of it can still be on its way', () => {
    const lastByte = placementMaxAge(settings) + settings.partnerTimeoutMs;
    expect(placing(settings).startToCloseTimeout).toBeGreaterThan(lastByte);
  });

  it('a placement has no heartbeat, because attempts with one can start again as the first', () => {
    expect(placing(settings).heartbeatTimeout).toBeUndefined();
  });

  it('one request fits into every activity that makes one', () => {
    for (const { startToCloseTimeout } of [lookingUp(settings), watching(settings, 1), delivering(settings)]) {
      expect(startToCloseTimeout).toBeGreaterThan(settings.partnerTimeoutMs);
    }
  });

  it('a crashed look is tried again after the interval, never sooner', () => {
    const { retry } = watching(settings, 1);
    expect(retry).toMatchObject({ initialInterval: settings.pollIntervalMs, backoffCoefficient: 1 });
  });

  it('an event is tried for more than the day that is promised', () => {
    expect(delivering(settings).scheduleToCloseTimeout).toBeGreaterThan(24 * 3_600_000);
  });
});
