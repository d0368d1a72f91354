import type { CheckoutEvent } from '../contracts/events';

/** An event on its way: `id` is the same for every attempt. */
export interface DeliveryEvent {
  id: string;
  body: CheckoutEvent;
}

/** Where events go. */
export interface Delivery {
  /**
   * One attempt at one event. @returns whether the checkout has it; false if it never wants it (410).
   *
   * @param withinMs a shorter deadline than that of the settings. The connection is closed with it.
   * @throws DeliveryError
   */
  deliver(event: DeliveryEvent, withinMs?: number): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * - `answered`: every answer that is neither 2xx nor 410, a redirect too.
 * - `timeout`, `unreachable`: no answer.
 * - `storage`: the folder can't be written.
 */
export type DeliveryErrorKind = 'answered' | 'timeout' | 'unreachable' | 'storage';

/** What is known of a failed attempt. Each is a safe fact: never a part of what was sent or answered. */
export interface DeliveryErrorFacts {
  /** The status of the answer, if one came. */
  httpStatus?: number;
  /** The pause that the checkout asked for, 0 to one hour. */
  retryAfterMs?: number;
  /** Of Node or undici, such as ECONNRESET. */
  code?: string;
}

const ErrorWithFacts = Error as new (message: string) => Error & Readonly<DeliveryErrorFacts>;

/**
 * An event was not taken. Callers ask for its `kind`; the facts are among its fields. The message names the receiver's
 * origin and what it did. No `cause`.
 */
export class DeliveryError extends ErrorWithFacts {
  constructor(
    readonly kind: DeliveryErrorKind,
    message: string,
    facts: DeliveryErrorFacts = {},
  ) {
    super(message);
    this.name = 'DeliveryError';
    Object.assign(this, facts);
  }
}

export function isDeliveryError(error: unknown): error is DeliveryError {
  return error instanceof DeliveryError;
}
