import { createHmac } from 'node:crypto';

/** What a signature covers in addition to the body: the headers `webhook-id` and `webhook-timestamp`. */
interface SignedParts {
  id: string;
  timestamp: string;
}

/**
 * The headers of an event, signed with each of these secrets.
 * @param secrets `whsec_…`
 */
export function signedHeaders(
  id: string,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => signatureOf(keyOf(secret), { id, timestamp }, body));
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

/**
 * Source: the Standard Webhooks specification; the tests verify signatures with its library. The library is not used to
 * sign, because it takes 15 times as long and blocks the process, and events with image keys are megabytes in size.
 */
export function signatureOf(key: Buffer, { id, timestamp }: SignedParts, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** @returns no bytes if this is not a secret of the form `whsec_…` */
export function keyOf(secret: string): Buffer {
  return Buffer.from(/^whsec_(.*)$/.exec(secret)?.[1] ?? '', 'base64');
}
