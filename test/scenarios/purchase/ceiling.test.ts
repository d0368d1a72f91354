import { sharedEnvironment } from '../../support/test-environment';

/** More than two requests for each of them take longer than a placement may wait for its slots. */
const COUNT = 24;
const PER_SECOND = 2.4;

describe(`${COUNT} purchases at once under a ceiling of ${PER_SECOND} requests a second`, () => {
  const env = sharedEnvironment({
    maxRequestsPerSecond: PER_SECOND,
    settings: { partnerTimeoutMs: 1_500, pollIntervalMs: 5_000, deadlineMs: 200_000, placeWithinMs: 200_000 },
  });

  it('are all delivered, with few requests in vain: no search is made without a slot for its write', async () => {
    const references = await env.buyMany(COUNT);
    const results = await env.ended(references, 200_000);

    expect(results.map(({ outcome }) => outcome)).toEqual(references.map(() => 'DELIVERED'));
    const { place, orders, keys } = env.sandbox.requests();
    expect(place).toBe(COUNT);
    // A search, a write, a poll and the read of the delivery are the whole job of each.
    expect(orders + place + keys).toBeLessThanOrEqual(1.5 * 4 * COUNT);
  }, 240_000);
});
