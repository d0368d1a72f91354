import type { CheckoutEvent } from '../contracts/events';

/** An event to deliver. `id` is the same for every attempt. */
export interface DeliveryEvent {
  id: string;
  body: CheckoutEvent;
}

/** Where events go. */
export interface EventSender {
  /**
   * Makes one attempt to deliver an event.
   *
   * @param withinMs the time left for this attempt. When it has passed, nothing is sent, and the connection is closed.
   * @returns true if the checkout accepted the event, false if it rejected the event permanently (410).
   * @throws DeliveryError
   */
  deliver(event: DeliveryEvent, withinMs?: number): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * - `error-response`: a response other than 2xx and 410, including redirects.
 * - `timeout`, `unreachable`: no response.
 * - `storage`: the folder can't be written.
 */
export type DeliveryErrorKind = 'error-response' | 'timeout' | 'unreachable' | 'storage';

/** Facts about a failed attempt. Safe to log: they contain nothing that was sent or received. */
export interface DeliveryErrorFacts {
  /** The status of the response, if there was one. */
  httpStatus?: number;
  /** The checkout's Retry-After, 0 to one hour. */
  retryAfterMs?: number;
  /** From Node or undici, such as ECONNRESET. */
  code?: string;
}

const ErrorWithFacts = Error as new (message: string) => Error & Readonly<DeliveryErrorFacts>;

/** An event was not accepted. The message names the receiver's origin and its response. There is no `cause`. */
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
