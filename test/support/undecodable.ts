import { type Payload, RawValue } from '@temporalio/common';

/** What the Temporal UI, its CLI and any SDK let a person send, and the SDK of this project can't decode. */
export const UNDECODABLE_PAYLOADS: [string, Payload][] = [
  ['a Protobuf message', payload('json/protobuf', '{"orderId":"x"}')],
  ['an encoding that nobody knows', payload('binary/unknown', 'x')],
  ['JSON that is none', payload('json/plain', '{"orderId":')],
  ['no encoding', { data: Buffer.from('x') }],
];

/** The same as values: whatever would encode a value sends them as they are. */
export const UNDECODABLE_VALUES = UNDECODABLE_PAYLOADS.map(([, one]) => RawValue.fromPayload(one));

function payload(encoding: string, data: string): Payload {
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
}
