import { DefaultFailureConverter, type TimeoutFailure } from '@temporalio/common';
import { payloadConverter } from '../../../src/contracts/payload-converter';
import { UNDECODABLE_PAYLOADS } from '../../support/undecodable';

const values = [undefined, null, 0, 'x', { orderId: 'o-1' }, [1], new Uint8Array([1, 2])];

it.each(values)('a value of the SDK survives the round trip: %j', (value) => {
  expect(payloadConverter.fromPayload(payloadConverter.toPayload(value))).toEqual(value);
});

describe.each(UNDECODABLE_PAYLOADS)('%s', (_, payload) => {
  it('is read as a string that quotes nothing of it, not as an error', () => {
    expect(payloadConverter.fromPayload(payload)).toBe('a payload that could not be decoded');
  });

  it('still counts as the intention record of a placement, because an unreadable heartbeat is not an empty one', () => {
    const failure = { timeoutFailureInfo: { lastHeartbeatDetails: { payloads: [payload] } } };
    const timedOut = new DefaultFailureConverter().failureToError(failure, payloadConverter) as TimeoutFailure;
    expect(timedOut.lastHeartbeatDetails).toBeDefined();
  });
});
