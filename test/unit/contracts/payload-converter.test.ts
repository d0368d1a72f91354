import { DefaultFailureConverter, type TimeoutFailure } from '@temporalio/common';
import { payloadConverter } from '../../../src/contracts/payload-converter';
import { UNDECODABLE_PAYLOADS } from '../../support/undecodable';

const values = [undefined, null, 0, 'x', { orderId: 'o-1' }, [1], new Uint8Array([1, 2])];

it.each(values)('a value of the SDK comes back as it was: %j', (value) => {
  expect(payloadConverter.fromPayload(payloadConverter.toPayload(value))).toEqual(value);
});

describe.each(UNDECODABLE_PAYLOADS)('%s', (_, payload) => {
  it('is a string, which quotes nothing of it, and no error', () => {
    expect(payloadConverter.fromPayload(payload)).toBe('a payload that could not be decoded');
  });

  it('as the record of a placement is a record: a heartbeat that says something is none that says nothing', () => {
    const failure = { timeoutFailureInfo: { lastHeartbeatDetails: { payloads: [payload] } } };
    const timedOut = new DefaultFailureConverter().failureToError(failure, payloadConverter) as TimeoutFailure;
    expect(timedOut.lastHeartbeatDetails).toBeDefined();
  });
});
