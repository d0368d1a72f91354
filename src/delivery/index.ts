import type { EventSender } from './event-sender';
import { createFolderSender } from './folder';
import { createWebhookSender } from './webhook';

export { type EventSender, DeliveryError, type DeliveryEvent, isDeliveryError } from './event-sender';
export { createFingerprinter, eventId, type EventIdentity, type Fingerprinter, secretIdOf } from './ids';

export type DeliverySettings =
  | { kind: 'webhook'; url: string; secrets: () => readonly string[]; timeoutMs: number }
  | { kind: 'folder'; dir: string };

/**
 * Creates the configured sender.
 * @param headers added to each posted event
 */
export function createEventSender(settings: DeliverySettings, headers?: () => Record<string, string>): EventSender {
  return settings.kind === 'webhook' ? createWebhookSender({ ...settings, headers }) : createFolderSender(settings);
}
