import { createHash, createHmac } from 'node:crypto';
import type { Key } from '../domain/order';

/**
 * Identifies keys without revealing them. A fingerprint is `kid.mac`: the id of the secret and 96 bits of HMAC-SHA-256.
 * The hash is keyed because a plain hash of a 16-digit code could be reversed by trying all codes.
 */
export type Fingerprinter = ReturnType<typeof createFingerprinter>;

/** @param secrets returns the secrets, newest first. Called at each use, so that a rotated secret is picked up. */
export function createFingerprinter(secrets: () => readonly string[]) {
  return {
    newestId(): string {
      const [newest] = secrets();
      if (newest === undefined) throw new Error('no fingerprint secret');
      return idOf(newest);
    },
    /**
     * The ids of one product's keys: their fingerprints, with `#2` for a second identical key.
     * @returns undefined if this worker lacks the secret
     */
    keyIds(keys: readonly Key[], secretId: string): string[] | undefined {
      const secret = secrets().find((candidate) => idOf(candidate) === secretId);
      if (secret === undefined) return undefined;
      const counts = new Map<string, number>();
      return keys.map((key) => {
        const fingerprint = `${secretId}.${fingerprintOf(secret, key)}`;
        const count = (counts.get(fingerprint) ?? 0) + 1;
        counts.set(fingerprint, count);
        return count === 1 ? fingerprint : `${fingerprint}#${count}`;
      });
    },
  };
}

/** The id of the secret that made a key id. */
export function secretIdOf(keyId: string): string {
  return keyId.slice(0, keyId.indexOf('.'));
}

/** The type is left out: if the partner renamed it later, the key would look like a new one. */
function fingerprintOf(secret: string, { value }: Key): string {
  const mac = createHmac('sha256', secret)
    .update(JSON.stringify([value]))
    .digest();
  return mac.subarray(0, 12).toString('base64url');
}

/** Identifies a secret without revealing it: 36 bits of a MAC over a text that no key can produce. */
function idOf(secret: string): string {
  return createHmac('sha256', secret).update('key id').digest('base64url').slice(0, 6);
}

/** What identifies an event. Time, texts and amounts are not part of it. */
export interface EventIdentity {
  type: string;
  referenceId: string;
  orderId?: string;
  keyIds?: readonly string[];
  /**
   * Distinguishes events of one type without keys: the id of a hold, the key of a finding or the run of a
   * reconciliation.
   */
  subject?: string;
}

/**
 * The id of an event, 160 bits: the same for every attempt, worker and run, but different for different keys. The
 * algorithm must never change, or an event repeated after an upgrade would look like a new one.
 */
export function eventId({ type, referenceId, orderId, keyIds = [], subject }: EventIdentity): string {
  const text = JSON.stringify([type, referenceId, orderId ?? null, subject ?? null, keyIds.toSorted()]);
  return `evt_${createHash('sha256').update(text).digest().subarray(0, 20).toString('base64url')}`;
}
