/**
 * The form of a reference, one for each sale. It becomes a workflow id and a search term at the partner.
 * Source: docs/architecture.md#what-is-public.
 */
export const REFERENCE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._~:-]{0,99}$/;

/**
 * Whether an order id may become part of a URL's path. The partner shows no format, so this is what can't change the path:
 * no slash, no percent sign, no control character, and not only dots.
 */
export function isSafeOrderId(id: string): boolean {
  return /^(?!\.+$)[A-Za-z0-9._~:-]{1,200}$/.test(id);
}

/** The partner's clock and Temporal's may differ by so much: an order this much older than a purchase is not its own. */
export const CLOCK_TOLERANCE_MS = 15 * 60_000;

/**
 * A delivered asset. `type` is `text`, `image` (a Base64 data URL, unchecked), or whatever else the partner sent; `text` if
 * it sent none.
 */
export interface Key {
  type: string;
  value: string;
}

/** One product of a purchase. `quantity` is an integer of 1 to 1,000. */
export interface PurchaseItem {
  productId: string;
  quantity: number;
}

/** One product of an order as the partner shows it, with the ids of its keys. */
export interface OrderLine {
  productId: string;
  title?: string;
  /** The quantity ordered, as the partner shows it; absent if it shows none. */
  quantity?: number;
  /** `k1.…`: the keyed fingerprint of a key, with `#2` after it for a second identical key of the same product. */
  keyIds: string[];
}

/** What one read of an order brings into a workflow: everything but the keys. */
export interface OrderSnapshot {
  orderId: string;
  /** A documented status, another one in plain letters, or `UNRECOGNISED`: see {@link presentableStatus}. */
  status: string;
  lines: OrderLine[];
  /** A decimal number as it came; the partner does not say in which currency. */
  totalDebit?: number;
  /** The reference of another purchase here that has the same order. */
  claimedBy?: string;
}

/** Whether polling ends with this status: no other is known to follow it, or there may be keys to deliver. */
export function endsPolling(status: string): boolean {
  return mayHaveKeys(status) || isFailedOrRefunded(status);
}

/** Whether a status is none of the two that the partner documents as open: where the order history shows it, a poll is worth while. */
export function mayHaveEnded(status: string): boolean {
  return status !== 'PENDING' && status !== 'PROCESSING';
}

/** Whether an order of this status may have keys to deliver. */
export function mayHaveKeys(status: string): boolean {
  return status === 'COMPLETED' || status === 'PARTIAL_COMPLETED';
}

/** Whether the partner ended an order without goods, so that it costs nothing. */
export function isFailedOrRefunded(status: string): status is 'FAILED' | 'REFUNDED' {
  return status === 'FAILED' || status === 'REFUNDED';
}

/** Whether an order costs money. A status that is not documented counts as one that does. */
export function isBillable({ status }: { status: string }): boolean {
  return !isFailedOrRefunded(status);
}

/**
 * The status as it may be shown to people. A status is the partner's free text and goes into histories and lists, so
 * only plain capital letters pass: no digits, in which a key could hide.
 */
export function presentableStatus(status: string): string {
  return /^[A-Z][A-Z_]{0,39}$/.test(status) ? status : 'UNRECOGNISED';
}
