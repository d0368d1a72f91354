import { ServiceError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { toFailure } from '../../../src/activities/failures';
import { DeliveryError } from '../../../src/delivery/event-sender';
import { PartnerError, statusError } from '../../../src/partner/errors';
import {
  deliveryOptions,
  firstDeliveryOptions,
  firstPollOptions,
  pollingOptions,
  readEndedPurchaseOptions,
  singlePollOptions,
} from '../../../src/workflows/policies';
import { FAST } from '../../support/settings';

type Options = Pick<ReturnType<typeof deliveryOptions>, 'retry'>;

/** The retry delay that a failed attempt asks for, ms; undefined if it leaves the delay to its retry policy. */
function delayAfter({ retry: retryPolicy }: Options, attempt: number, error: Error, intervalMs?: number) {
  const isLocal = retryPolicy === firstPollOptions.retry || retryPolicy === firstDeliveryOptions.retry;
  const environment = new MockActivityEnvironment({ attempt, retryPolicy, isLocal });
  return environment.run(async () => toFailure(error, intervalMs).nextRetryDelay);
}

describe('a Retry-After makes a delay longer, never shorter', () => {
  const [delivery, lastPoll] = [deliveryOptions(FAST), singlePollOptions(FAST)];
  const partner = (retryAfterMs?: number) => statusError({ operation: 'getOrder', httpStatus: 503, retryAfterMs });
  const checkout = (retryAfterMs?: number) =>
    new DeliveryError('error-response', 'the checkout returned 429', { httpStatus: 429, retryAfterMs });

  it.each<[string, Options, number, Error, number | undefined]>([
    ['0 from the checkout, first attempt', delivery, 1, checkout(0), 1_000],
    ['0 from the checkout, later attempt', delivery, 5, checkout(0), 16_000],
    ['0 from the checkout, after a day of attempts', delivery, 5_000, checkout(0), 600_000],
    ['1 s from the checkout, after the delay has grown', delivery, 8, checkout(1_000), 128_000],
    ['an hour from the checkout', delivery, 8, checkout(3_600_000), 3_600_000],
    ['no Retry-After from the checkout', delivery, 8, checkout(), undefined],
    ['0 from the partner, last poll of an order', lastPoll, 2, partner(0), 4_000],
    ['a minute from the partner, last poll of an order', lastPoll, 2, partner(60_000), 60_000],
    ['an hour from the partner, last poll of an order', lastPoll, 2, partner(3_600_000), 60_000],
    ['an hour from the partner, delivery after the end', readEndedPurchaseOptions(FAST), 2, partner(3_600_000), 60_000],
    ['an hour from the partner, first poll (others follow)', firstPollOptions, 1, partner(3_600_000), 3_600_000],
    ['an hour from the checkout, first delivery', firstDeliveryOptions, 1, checkout(3_600_000), 3_600_000],
    ['no Retry-After from the partner', lastPoll, 2, partner(), undefined],
    ['0, without a retry policy', {}, 3, partner(0), 4_000],
  ])('%s', async (_, options, attempt, error, delayMs) => {
    expect(await delayAfter(options, attempt, error)).toBe(delayMs);
  });

  it('a poll keeps its interval, and a wait for a PARTNER_MAX_RPS permit lasts exactly until the permit is due', async () => {
    const polling = pollingOptions({ ...FAST, pollIntervalMs: 600_000 }, 3_600_000);
    expect(await delayAfter(polling, 3, partner(0), 30_000)).toBe(30_000);
    expect(await delayAfter(polling, 3, partner(90_000), 30_000)).toBe(90_000);
    expect(await delayAfter(delivery, 9, new PartnerError('too-late', 'no permit', { permitInMs: 40 }))).toBe(40);
  });
});

it('a failed call to Temporal shows its gRPC status, and none of its text', () => {
  const cause = Object.assign(new Error('KEY-1'), { code: 11, details: 'KEY-1', metadata: {} });
  const { message, stack } = toFailure(new ServiceError('KEY-1', { cause }));
  expect({ message, stack }).toEqual({ message: 'unexpected ServiceError (gRPC status 11)', stack: '' });
});
