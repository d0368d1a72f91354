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

/**
 * A delivered asset. `type` is `text`, `image` (a Base64 data URL, unchecked), or whatever else the partner sent; `text` if
 * it sent none.
 */
export interface Key {
  type: string;
  value: string;
}

/** One product of an order as the partner shows it. Its keys are named by keyed fingerprints. */
export interface OrderLine {
  productId: string;
  title?: string;
  /** As the partner says it was ordered; absent if it does not say. */
  quantity?: number;
  fingerprints: string[];
}

/** What one look at an order brings into a workflow: everything but the keys. */
export interface OrderSnapshot {
  orderId: string;
  /** A documented status, or another one in its letters, or `UNRECOGNISED`. */
  status: string;
  lines: OrderLine[];
  /** As it came; the partner does not say in which currency. */
  totalDebit?: number;
  /** The reference of another purchase here that has the same order. */
  claimedBy?: string;
}

/** A status that ends the looking: nothing is known to follow it, or there may be keys to hand over. */
export function endsPolling(status: string): boolean {
  return ['COMPLETED', 'PARTIAL_COMPLETED', 'FAILED', 'REFUNDED'].includes(status);
}

/** Whether an order of this status can have keys to hand over. */
export function mayHaveKeys(status: string): boolean {
  return status === 'COMPLETED' || status === 'PARTIAL_COMPLETED';
}

/** Whether an order of this status costs money. A status never heard of does. */
export function isBillable(status: string): boolean {
  return status !== 'FAILED' && status !== 'REFUNDED';
}

/**
 * The status as it may be shown to people. A status is the partner's free text and would stand in a history and a list,
 * so only plain capital letters pass: no digits, in which a key could hide.
 */
export function presentableStatus(status: string): string {
  return /^[A-Z][A-Z_]{0,39}$/.test(status) ? status : 'UNRECOGNISED';
}
