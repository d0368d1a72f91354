/** The fulfilment statuses that the partner documents. It may send others. */
export const DOCUMENTED_STATUSES = [
  'PENDING',
  'PROCESSING',
  'COMPLETED',
  'PARTIAL_COMPLETED',
  'FAILED',
  'REFUNDED',
] as const;

export type DocumentedStatus = (typeof DOCUMENTED_STATUSES)[number];

/** How the content of a key is to be read: a code, or a Base64 data URL of an image. */
export type KeyType = 'text' | 'image';

/**
 * The form of a reference, one for each sale. It becomes a workflow id and a search term at the partner.
 * Source: the outward interface of this project.
 */
export const REFERENCE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._~:-]{0,99}$/;

/**
 * The form of an order id that may become part of a URL's path. The partner shows no format, so this is what can't
 * change the path: no slash, no percent sign, no control character, and not only dots.
 */
export const ORDER_ID_PATTERN = /^(?!\.+$)[A-Za-z0-9._~:-]{1,200}$/;

/** Whether `id` may become part of a URL's path. */
export function isSafeOrderId(id: string): boolean {
  return ORDER_ID_PATTERN.test(id);
}
