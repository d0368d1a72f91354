/**
 * - `gone`: the checkout answered 410, it wants this event no more.
 * - `answered`: every other answer that is not 2xx, a redirect too.
 * - `timeout`, `unreachable`: no answer.
 * - `conflict`: the folder holds another event under this id.
 * - `storage`: the folder can't be written.
 */
export type DeliveryErrorKind = 'gone' | 'answered' | 'timeout' | 'unreachable' | 'conflict' | 'storage';

/** What is known of a failed attempt. Each is a safe fact: never a part of what was sent or answered. */
export interface DeliveryErrorFacts {
  /** The status of the answer, if one came. */
  httpStatus?: number;
  /** The pause that the checkout asked for, 0 to one hour. */
  retryAfterMs?: number;
  /** Of Node or undici, such as ECONNRESET. */
  code?: string;
}

/** An event was not taken. Callers ask for its `kind`. The message names the receiver's origin and what it did. No `cause`. */
export class DeliveryError extends Error implements DeliveryErrorFacts {
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;

  constructor(
    readonly kind: DeliveryErrorKind,
    message: string,
    facts: DeliveryErrorFacts = {},
  ) {
    super(message);
    this.name = 'DeliveryError';
    this.httpStatus = facts.httpStatus;
    this.retryAfterMs = facts.retryAfterMs;
    this.code = facts.code;
  }
}

export function isDeliveryError(error: unknown): error is DeliveryError {
  return error instanceof DeliveryError;
}
