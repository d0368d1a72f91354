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
   * @param deadline ends the attempt, and closes its connection.
   * @throws DeliveryError
   */
  deliver(event: DeliveryEvent, deadline?: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}
