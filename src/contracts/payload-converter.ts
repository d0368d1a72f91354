import {
  type ConverterHint,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';

/**
 * Replaces a payload that can't be decoded. Undefined would already mean something: no recorded intention, or the
 * default input of a reconciliation. None of our inputs, results or signals is a string.
 */
const UNDECODABLE = 'a payload that could not be decoded';

/**
 * Tolerates payloads that can't be decoded, because any client can send them. If the SDK's converter threw, a workflow
 * task would fail forever, or a list of workflows would break off. The error is dropped: its message may quote the
 * payload.
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

/** For the SDK's option `payloadConverterPath`, in the workflow bundle and in our clients. */
export const payloadConverter = /* @__PURE__ */ toleratingUndecodable(defaultPayloadConverter);
