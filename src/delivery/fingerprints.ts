import { createHmac } from 'node:crypto';
import type { Key } from '../domain/order';

/**
 * Names keys without showing them. A plain hash of a 16-digit code could be searched; a keyed one can't without the secret.
 * A fingerprint is `kid.mac`: the id of the secret that made it, and 96 bits of HMAC-SHA-256.
 */
export interface Fingerprinter {
  /** The fingerprint of a key under the newest secret. */
  newest(key: Key): string;
  /** The id of the newest secret. */
  newestId(): string;
  /** Whether the secret of this id is here. */
  has(secretId: string): boolean;
  /** The fingerprint of a key under the secret of this id; undefined if that secret is not here. */
  under(secretId: string, key: Key): string | undefined;
  /** The fingerprint of a key under the secret that made `model`; undefined if that secret is not here. */
  like(model: string, key: Key): string | undefined;
}

/** @param secrets newest first; read at each use, so that a rotated secret is picked up. */
export function createFingerprinter(secrets: () => readonly string[]): Fingerprinter {
  const newestSecret = () => {
    const [secret] = secrets();
    if (secret === undefined) throw new Error('no fingerprint secret');
    return secret;
  };
  const secretOf = (secretId: string) => secrets().find((candidate) => keyId(candidate) === secretId);
  const under = (secretId: string, key: Key) => {
    const secret = secretOf(secretId);
    return secret === undefined ? undefined : fingerprint(secret, key);
  };
  return {
    newest: (key) => fingerprint(newestSecret(), key),
    newestId: () => keyId(newestSecret()),
    has: (secretId) => secretOf(secretId) !== undefined,
    under,
    like: (model, key) => under(secretIdOf(model), key),
  };
}

/** The id of the secret that made a fingerprint. */
export function secretIdOf(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.indexOf('.'));
}

function fingerprint(secret: string, { type, value }: Key): string {
  // JSON keeps type and value apart, ('ab', 'c') and ('a', 'bc') are two keys, and no two texts look the same in it.
  const mac = createHmac('sha256', secret)
    .update(JSON.stringify([type, value]))
    .digest();
  return `${keyId(secret)}.${mac.subarray(0, 12).toString('base64url')}`;
}

/** Distinguishes secrets and says nothing about them: 36 bits of a MAC whose text no key can have. */
function keyId(secret: string): string {
  return createHmac('sha256', secret).update('key id').digest('base64url').slice(0, 6);
}
