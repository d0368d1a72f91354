import { totalQuantity } from './key-ids';
import { isSameAmount, toMicros } from './money';
import { isSafeOrderId, REFERENCE_PATTERN } from './order';
import type { PurchaseItem } from './purchase-item';
import { toSingleLine } from './text-format';

/** The highest quantity of one product. Source: docs/checkout.md#start-a-purchase. */
export const MAX_QUANTITY = 1_000;
/** The most products in one purchase. */
export const MAX_ITEMS = 100;
/** The most keys in one purchase. The fingerprints of more keys would not fit into one payload. */
export const MAX_KEYS = 20_000;

/** Characters. */
export const MAX_PRODUCT_ID = 200;

/** @returns one message for each issue, with what was expected and what was given. */
export function validatePurchase(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return ['expected one argument {referenceId, items, maxDebit?}'];
  const { referenceId, items, maxDebit } = input as Record<'referenceId' | 'items' | 'maxDebit', unknown>;
  return [...validateReference(referenceId), ...validateItems(items), ...validateMaxDebit(maxDebit)];
}

/** @returns one message for each issue. */
export function validateReference(referenceId: unknown): string[] {
  if (typeof referenceId === 'string' && REFERENCE_PATTERN.test(referenceId)) return [];
  return [
    `referenceId: expected 1 to 100 characters of A-Z a-z 0-9 . _ ~ : -, starting with a letter or digit, got ${quoteValue(referenceId)}`,
  ];
}

/**
 * Checks an order id that becomes part of a URL.
 * @returns one message for each issue.
 */
export function validateOrderId(orderId: unknown): string[] {
  if (typeof orderId === 'string' && isSafeOrderId(orderId)) return [];
  return [
    'expected the id of an order at the partner: 1 to 200 characters of A-Z a-z 0-9 . _ ~ : - + =, not beginning with + or =',
  ];
}

/**
 * Accepts null, which other languages write for an absent field.
 * @returns one message for each issue.
 */
export function validateMaxDebit(maxDebit: unknown): string[] {
  if (maxDebit === undefined || maxDebit === null) return [];
  if (typeof maxDebit === 'number' && maxDebit >= 0 && toMicros(maxDebit) !== undefined) return [];
  return [`maxDebit: expected nothing or a number of at least 0, such as 12.5, got ${quoteValue(maxDebit)}`];
}

/** @returns one message for each issue. */
export function validateItems(items: unknown): string[] {
  if (!Array.isArray(items) || items.length === 0) {
    return [`items: expected a list of at least one {productId, quantity}, got ${quoteValue(items)}`];
  }
  if (items.length > MAX_ITEMS) return [`items: expected at most ${MAX_ITEMS} products, got ${items.length}`];
  // Array.from also visits the holes of a sparse array.
  const issues = Array.from(items, validateItem).flat();
  if (issues.length > 0) return issues;

  const valid = items as PurchaseItem[];
  const repeated = valid.find((item, index) => valid.findIndex((other) => other.productId === item.productId) < index);
  if (repeated)
    return [`items: ${quoteValue(repeated.productId)} is listed twice; list it once, with the total quantity`];
  const keys = totalQuantity(valid);
  return keys > MAX_KEYS ? [`items: expected at most ${MAX_KEYS} keys in one purchase, got ${keys}`] : [];
}

/** Removes unknown fields, which would otherwise be copied into many history events. */
export function itemsOnly(items: readonly PurchaseItem[]): PurchaseItem[] {
  return items.map(({ productId, quantity }) => ({ productId, quantity }));
}

function validateItem(item: unknown, index: number): string[] {
  if (typeof item !== 'object' || item === null) return [`items[${index}]: expected {productId, quantity}`];
  const { productId, quantity } = item as { productId?: unknown; quantity?: unknown };
  const issues: string[] = [];
  if (typeof productId !== 'string' || productId.length === 0 || productId.length > MAX_PRODUCT_ID) {
    const expected = `expected a string of 1 to ${MAX_PRODUCT_ID} characters`;
    issues.push(`items[${index}].productId: ${expected}, got ${quoteValue(productId)}`);
  }
  // As a field of an object, this name would set the object's prototype.
  if (productId === '__proto__') issues.push(`items[${index}].productId: __proto__ is not allowed`);
  if (typeof quantity !== 'number' || !Number.isInteger(quantity) || quantity < 1 || quantity > MAX_QUANTITY) {
    issues.push(`items[${index}].quantity: expected an integer of 1 to ${MAX_QUANTITY}, got ${quoteValue(quantity)}`);
  }
  return issues;
}

/** A value in a message about what was expected, on one short line. Of a list or an object, only the kind. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return toSingleLine(JSON.stringify(value) ?? typeof value, 60);
}

/** The first five items on one line, such as `2 × steam-50, 1 × xbox-20`. */
export function describeItems(items: readonly PurchaseItem[]): string {
  const shown = items.slice(0, 5).map((item) => `${item.quantity} × ${toSingleLine(item.productId, MAX_PRODUCT_ID)}`);
  const more = items.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** Whether two lists contain the same items, in any order. */
export function hasSameItems(one: readonly PurchaseItem[], other: readonly PurchaseItem[]): boolean {
  const lines = (items: typeof one) => items.map((item) => JSON.stringify([item.productId, item.quantity])).toSorted();
  return lines(one).join() === lines(other).join();
}

/** Whether two purchases have the same maximum cost, or both have none. */
export function hasSameMaxDebit(one: number | null | undefined, other: number | null | undefined): boolean {
  const [limit, otherLimit] = [one ?? undefined, other ?? undefined];
  return limit === undefined || otherLimit === undefined ? limit === otherLimit : isSameAmount(limit, otherLimit);
}
