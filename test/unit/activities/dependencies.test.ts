import { MockActivityEnvironment } from '@temporalio/testing';
import { wasDispatchedBefore } from '../../../src/activities/dependencies';

it.each([
  ['a first dispatch', 1, 0, false],
  ['a first dispatch that the server dated twice', 1, 5, false],
  ['a second attempt', 2, 8_000, true],
  ['a first attempt after an operator has reset the activity', 1, 8_000, true],
])(
  '%s (attempt %i, %i ms after the activity was scheduled): dispatched before: %s',
  async (_, attempt, afterMs, was) => {
    const times = { scheduledTimestampMs: 5_000, currentAttemptScheduledTimestampMs: 5_000 + afterMs };
    const environment = new MockActivityEnvironment({ attempt, ...times });
    expect(await environment.run(() => Promise.resolve(wasDispatchedBefore()))).toBe(was);
  },
);
