import { createHash } from 'node:crypto';

/** What makes an event the one it is. Time, texts and amounts are not part of it. */
export interface EventIdentity {
  type: string;
  referenceId: string;
  orderId?: string;
  keyIds?: readonly string[];
  /** Distinguishes events of one type that name no keys: the id of a hold, the key of a finding, the run of a reconciliation. */
  subject?: string;
}

/**
 * The id of an event: the same for every attempt, worker and run, and another for other keys. 160 bits. How it is made must never
 * change: an attempt after an update would be a new event.
 */
export function eventId({ type, referenceId, orderId, keyIds = [], subject }: EventIdentity): string {
  const text = JSON.stringify([type, referenceId, orderId ?? null, subject ?? null, keyIds.toSorted()]);
  return `evt_${createHash('sha256').update(text).digest().subarray(0, 20).toString('base64url')}`;
}
