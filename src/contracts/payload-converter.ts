import type { ConverterHint, Payload, PayloadConverter, SerializationContext } from '@temporalio/common';

/**
 * What stands for a payload that can't be decoded. Not undefined, which has meanings: the heartbeat of a placement without the
 * intention on record, a reconciliation with the default input. A string is no signal, result or input of ours.
 */
const UNDECODABLE = 'a payload that could not be decoded';

/**
 * Anybody can send any payload, from the Temporal UI too: of another encoding, or with JSON that is none. The SDK's converter
 * throws then, and in a workflow that happens outside our code: its workflow task fails, and is tried again for ever.
 *
 * @param converter decodes what it can. Its error is dropped: the message may quote the payload.
 */
export function toleratingUndecodable(converter: PayloadConverter): PayloadConverter {
  return {
    toPayload: (value, context, hint) => converter.toPayload(value, context, hint),
    fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
      try {
        return converter.fromPayload<T>(payload, context, hint);
      } catch {
        return UNDECODABLE as T;
      }
    },
  };
}
