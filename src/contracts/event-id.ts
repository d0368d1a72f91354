import { createHash } from 'node:crypto';
import { type DeliveryRequest, fingerprintsOf } from './checkout-events';

/*
 * Workflow code can't import this file, because it hashes with Node: the bundle test holds that. A workflow learns the
 * id of its event from the receipt.
 */

/** What makes an event the one it is. Everything else of it follows from these. */
export interface EventIdentity {
  type: string;
  referenceId: string;
  orderId?: string;
  /** Distinguishes two events of one type, such as two holds of one purchase. */
  deduplicationKey?: string;
  fingerprints: readonly string[];
}

/**
 * The id of an event: the same for every attempt and every worker, and another for any other keys. 160 bits. The order of
 * the fingerprints does not matter. How it is made must never change: an attempt after an update would be a new event.
 */
export function eventId(identity: EventIdentity): string {
  const { type, referenceId, orderId = null, deduplicationKey = null } = identity;
  const text = JSON.stringify([type, referenceId, orderId, deduplicationKey, identity.fingerprints.toSorted()]);
  return `evt_${createHash('sha256').update(text).digest().subarray(0, 20).toString('base64url')}`;
}

/** The id of the event that a request asks to deliver. */
export function eventIdOf(request: DeliveryRequest): string {
  const { referenceId, type } = request;
  const orderId = 'orderId' in request ? request.orderId : undefined;
  const deduplicationKey = 'deduplicationKey' in request ? request.deduplicationKey : undefined;
  return eventId({ referenceId, orderId, type, deduplicationKey, fingerprints: fingerprintsOf(request) });
}
