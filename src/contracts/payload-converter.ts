import {
  type ConverterHint,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';

/**
 * Stands for a payload that can't be decoded. Not undefined, which has meanings: a heartbeat without the intention on record, a
 * reconciliation with the default input. No signal, result or input of ours is a string.
 */
const UNDECODABLE = 'a payload that could not be decoded';

/**
 * Anybody can send any payload. The SDK's converter throws outside our code then: a workflow task fails for ever, and a list of
 * workflows ends at the first such memo. The error is dropped, because its message may quote the payload.
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

/** For the SDK's option `payloadConverterPath`, of the workflow bundle and of our own clients. */
export const payloadConverter = /* @__PURE__ */ toleratingUndecodable(defaultPayloadConverter);
