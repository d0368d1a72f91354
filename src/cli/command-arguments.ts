import type { PurchaseItem } from '../domain/purchase-item';
import { validateMaxDebit, validateOrderId, validateReference } from '../domain/purchase-rules';
import { PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';
// The index would load the partner's client.
import { MAX_PAGE_SIZE } from '../partner/types';
import { didYouMean } from '../starter/did-you-mean';
import { loadConfig } from './context';
import { safeText } from './output';
import { UsageError } from './usage-errors';

/** Reads the reference of a sale. */
export function reference(value: string): string {
  const [issue] = validateReference(value);
  if (issue) throw new UsageError(issue.replace(/^referenceId/, 'REFERENCE'));
  return value;
}

/** Reads the partner's id of an order, which becomes part of a URL. */
export function orderId(value: string): string {
  const [issue] = validateOrderId(value);
  if (issue) throw new UsageError(`--order: ${issue}`);
  return value;
}

/** Reads `PRODUCT:QUANTITY`. The last colon separates, because a product id may contain a colon. */
export function item(value: string, before: PurchaseItem[] = []): PurchaseItem[] {
  const [, productId, quantity] = /^(.+):(\d{1,9})$/s.exec(value) ?? [];
  if (productId === undefined) throw expected('--item', 'PRODUCT:QUANTITY, such as gift-card-50:2', value);
  return [...before, { productId, quantity: Number(quantity) }];
}

/** Reads a decimal number of at least 0. */
export function amount(value: string): number {
  const isAmount = /^\d{1,15}(\.\d{1,6})?$/.test(value) && validateMaxDebit(Number(value)).length === 0;
  if (!isAmount) throw expected('--max-debit', 'a number of at least 0, such as 12.50', value);
  return Number(value);
}

/** Reads a page number, from 1. */
export const pageNumber = wholeNumber('--page', 999_999_999, 'a whole number from 1');

/** Reads the number of rows on a page, up to the partner's limit. */
export const pageSize = wholeNumber('--limit', MAX_PAGE_SIZE, `a whole number from 1 to ${MAX_PAGE_SIZE}`);

function wholeNumber(option: string, max: number, words: string) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d{1,9}$/.test(value) || number < 1 || number > max) throw expected(option, words, value);
    return number;
  };
}

/** Reads a search text. An empty text would find everything. */
export function searchText(value: string): string {
  if (value === '') throw expected('--search', 'an order id or a reference', 'nothing');
  return value;
}

/**
 * Reads a duration such as `72h`, by the rules of `RECONCILE_LOOKBACK`.
 *
 * @returns milliseconds.
 */
export function period(option: string) {
  return (value: string): number => {
    const lookback = loadConfig().parseLookback(value);
    if (lookback.ms === undefined) throw expected(option, lookback.expected, value);
    return lookback.ms;
  };
}

/** Reads a state of a purchase, in upper or lower case. */
export function purchaseState(value: string): PurchaseState {
  return oneOf('--state', PURCHASE_STATES)(value.toUpperCase());
}

/** Reads one of a fixed set of words. */
export function oneOf<const T extends string>(name: string, choices: readonly T[]) {
  return (value: string): T => {
    const known = choices.find((choice) => choice === value);
    if (known !== undefined) return known;
    throw expected(name, `one of ${choices.join(', ')}`, `${value}${didYouMean(value, choices)}`);
  };
}

function expected(name: string, words: string, value: string) {
  return new UsageError(`${name}: expected ${words}, got ${safeText(value)}`);
}
