import { createFolderDelivery } from './folder';
import type { DeliveryEvent } from './event';
import { createWebhookDelivery } from './webhook';

export { DeliveryError, isDeliveryError } from './errors';
export { type DeliveryEvent, type DeliveryEventBody, deliveryEventSchema } from './event';
export { createFingerprinter, type Fingerprinter } from './fingerprints';

/** Where events go. */
export interface Delivery {
  /** One attempt at one event. Resolves when the checkout has it. @throws DeliveryError */
  deliver(event: DeliveryEvent): Promise<void>;
  close(): Promise<void>;
}

export type DeliverySettings =
  | { kind: 'webhook'; url: string; secrets: () => readonly string[]; timeoutMs: number }
  | { kind: 'folder'; dir: string };

/** Builds the delivery that the configuration names. */
export function createDelivery(settings: DeliverySettings): Delivery {
  return settings.kind === 'webhook' ? createWebhookDelivery(settings) : createFolderDelivery(settings);
}
