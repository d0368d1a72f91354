/**
 * The format of a reference. It becomes part of a workflow id and a search term at the partner.
 * Source: docs/checkout.md#start-a-purchase.
 */
export const REFERENCE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._~:-]{0,99}$/;

/**
 * Whether an order id may become part of a URL path. The partner documents no format, so this excludes whatever could
 * change the path: slashes, percent signs, control characters, and ids that consist of dots.
 */
export function isSafeOrderId(id: string): boolean {
  return /^(?!\.+$)[A-Za-z0-9._~:-][A-Za-z0-9._~:+=-]{0,199}$/.test(id);
}

/**
 * How much the partner's clock and Temporal's may differ. An order that is older by more can't belong to a purchase.
 */
export const CLOCK_TOLERANCE_MS = 15 * 60_000;

/** A delivered key. `type` is `text` (the default), `image` (a Base64 data URL, unchecked) or any other text. */
export interface Key {
  type: string;
  value: string;
}

/** One line of an order as the partner shows it, with key ids instead of keys. */
export interface OrderLine {
  productId: string;
  title?: string;
  /** The quantity ordered; absent if the partner shows none. */
  quantity?: number;
  /** The keyed fingerprint of each key, such as `u9x2Lt.T7vV…`, with `#2` for a second identical key of the same product. */
  keyIds: string[];
}

/** What a workflow learns about an order: everything except the keys. */
export interface OrderSnapshot {
  orderId: string;
  /** See {@link safeStatus}. */
  status: string;
  lines: OrderLine[];
  /** A decimal number as received. The partner does not document the currency. */
  totalDebit?: number;
  /** The reference of another purchase in Temporal with the same order. */
  claimedBy?: string;
}

/** Whether polling may stop at this status: the partner documents it as final, or the order may have keys. */
export function canStopPolling(status: string): boolean {
  return mayHaveKeys(status) || isFailedOrRefunded(status);
}

/**
 * Whether the status is neither of the two that the partner documents as open. If the history shows such a status, a
 * poll is due.
 */
export function mayHaveEnded(status: string): boolean {
  return status !== 'PENDING' && status !== 'PROCESSING';
}

/** Whether an order with this status may have keys to deliver. */
export function mayHaveKeys(status: string): boolean {
  return status === 'COMPLETED' || status === 'PARTIAL_COMPLETED';
}

/** Whether the partner ended the order without keys, so that it costs nothing. */
export function isFailedOrRefunded(status: string): status is 'FAILED' | 'REFUNDED' {
  return status === 'FAILED' || status === 'REFUNDED';
}

/** Whether an order costs money. An undocumented status counts as billable. */
export function isBillable({ status }: { status: string }): boolean {
  return !isFailedOrRefunded(status);
}

/**
 * One row per order, by id. A partner may show a row per item. If only some of them cost money, the status is `MIXED`,
 * which counts as open, so that nobody relies on it.
 */
export function rowsById<Row extends { id: string; status: string }>(rows: Iterable<Row>): Map<string, Row> {
  const known = new Map<string, Row>();
  for (const row of rows) {
    const other = known.get(row.id);
    if (!other) known.set(row.id, row);
    else if (isBillable(other) !== isBillable(row)) known.set(row.id, { ...other, status: 'MIXED' });
  }
  return known;
}

/**
 * The status in a form that is safe to show and store. The partner may send any text, so only capital letters and
 * underscores pass; digits could be part of a key.
 */
export function safeStatus(status: string): string {
  return /^[A-Z][A-Z_]{0,39}$/.test(status) ? status : 'UNRECOGNISED';
}
