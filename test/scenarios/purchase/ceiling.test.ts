import { sharedEnvironment } from '../../support/test-environment';

/** More than two requests per purchase take longer than a placement may wait for its permits. */
const COUNT = 24;
const PER_SECOND = 2.4;

describe(`${COUNT} concurrent purchases with a rate limit of ${PER_SECOND} requests a second`, () => {
  const env = sharedEnvironment({
    maxRequestsPerSecond: PER_SECOND,
    settings: { partnerTimeoutMs: 1_500, pollIntervalMs: 5_000 },
  });

  it('are all delivered with few wasted requests: no search starts without a permit for its order', async () => {
    const references = await env.buyMany(COUNT);
    const results = await env.ended(references);

    expect(results.map(({ outcome }) => outcome)).toEqual(references.map(() => 'DELIVERED'));
    const { place, orders, keys } = env.sandbox.requests();
    expect(place).toBe(COUNT);
    // Each purchase needs one search, one order, one poll and one read for the delivery.
    expect(orders + place + keys).toBeLessThanOrEqual(1.5 * 4 * COUNT);
  });
});
