/**
 * - `gone`: the checkout answered 410, it wants this event no more.
 * - `answered`: every other answer that is not 2xx, a redirect too.
 * - `timeout`, `unreachable`: no answer.
 * - `conflict`: the folder holds another event under this id.
 * - `storage`: the folder can't be written.
 */
export type DeliveryErrorKind = 'gone' | 'answered' | 'timeout' | 'unreachable' | 'conflict' | 'storage';

/** An event was not taken. The message names the receiver's origin and what it did, never what was sent or answered. */
export class DeliveryError extends Error {
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;

  constructor(
    readonly kind: DeliveryErrorKind,
    message: string,
    facts: { httpStatus?: number; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = 'DeliveryError';
    if (facts.httpStatus !== undefined) this.httpStatus = facts.httpStatus;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
  }
}

export function isDeliveryError(error: unknown): error is DeliveryError {
  return error instanceof DeliveryError;
}
