import { createHash, createHmac } from 'node:crypto';
import type { Key } from '../domain/order';

/**
 * Names keys without showing them. A plain hash of a 16-digit code could be searched; a keyed one can't without the secret.
 * A fingerprint is `kid.mac`: the id of the secret that made it, and 96 bits of HMAC-SHA-256.
 */
export type Fingerprinter = ReturnType<typeof createFingerprinter>;

/** @param secrets newest first; read at each use, so that a rotated secret is picked up. */
export function createFingerprinter(secrets: () => readonly string[]) {
  return {
    /** The id of the newest secret. */
    newestId(): string {
      const [newest] = secrets();
      if (newest === undefined) throw new Error('no fingerprint secret');
      return idOf(newest);
    },
    /**
     * The ids of the keys of one product: their fingerprints, and `#2` after that of a second identical key. Undefined if the secret
     * of this id is not here.
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

function fingerprintOf(secret: string, { type, value }: Key): string {
  // JSON keeps type and value apart: ('ab', 'c') and ('a', 'bc') are two keys, and no two texts look the same in it.
  const mac = createHmac('sha256', secret)
    .update(JSON.stringify([type, value]))
    .digest();
  return mac.subarray(0, 12).toString('base64url');
}

/** Distinguishes secrets and says nothing about them: 36 bits of a MAC whose text no key can have. */
function idOf(secret: string): string {
  return createHmac('sha256', secret).update('key id').digest('base64url').slice(0, 6);
}

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
