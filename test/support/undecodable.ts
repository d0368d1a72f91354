import { type Payload, RawValue } from '@temporalio/common';

/** Payloads that a person can send with the Temporal UI, its CLI or any SDK, but that our SDK cannot decode. */
export const UNDECODABLE_PAYLOADS: [string, Payload][] = [
  ['a Protobuf message', payload('json/protobuf', '{"orderId":"x"}')],
  ['an unknown encoding', payload('binary/unknown', 'x')],
  ['invalid JSON', payload('json/plain', '{"orderId":')],
  ['no encoding', { data: Buffer.from('x') }],
];

/** The same payloads as values that an encoder sends unchanged. */
export const UNDECODABLE_VALUES = UNDECODABLE_PAYLOADS.map(([, one]) => RawValue.fromPayload(one));

function payload(encoding: string, data: string): Payload {
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
}
