import type { Delivery } from './delivery';
import { createFolderDelivery } from './folder';
import { createWebhookDelivery } from './webhook';

export { type Delivery, DeliveryError, type DeliveryEvent, isDeliveryError } from './delivery';
export { createFingerprinter, eventId, type EventIdentity, type Fingerprinter, secretIdOf } from './ids';

export type DeliverySettings =
  | { kind: 'webhook'; url: string; secrets: () => readonly string[]; timeoutMs: number }
  | { kind: 'folder'; dir: string };

/**
 * Creates the configured delivery.
 * @param headers added to each posted event
 */
export function createDelivery(settings: DeliverySettings, headers?: () => Record<string, string>): Delivery {
  return settings.kind === 'webhook' ? createWebhookDelivery({ ...settings, headers }) : createFolderDelivery(settings);
}
