import { InvalidArgumentError } from 'commander';
import type { PurchaseItem } from '../domain/order';
import { validateMaxDebit, validateOrderId, validateReference } from '../domain/purchase-rules';
import { PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';
// Not from its index, which loads the client.
import { MAX_PAGE_SIZE } from '../partner/types';
import { loadConfig } from './context';

/** The reference of a sale. */
export const reference = textBy(validateReference);

/** The id of an order at the partner, which is to become part of a URL. */
export const orderId = textBy(validateOrderId);

function textBy(validate: (value: string) => string[]) {
  return (value: string): string => {
    const [fault] = validate(value);
    if (fault) throw new InvalidArgumentError(fault);
    return value;
  };
}

/** `PRODUCT:QUANTITY`; the last colon separates, because a product id may hold one. */
export function item(value: string, before: PurchaseItem[] = []): PurchaseItem[] {
  const [, productId, quantity] = /^(.+):(\d{1,9})$/s.exec(value) ?? [];
  if (productId === undefined) throw expected('PRODUCT:QUANTITY such as steam-50:2', value);
  return [...before, { productId, quantity: Number(quantity) }];
}

/** A decimal number from 0. */
export function amount(value: string): number {
  const isAmount = /^\d{1,15}(\.\d{1,6})?$/.test(value) && validateMaxDebit(Number(value)).length === 0;
  if (!isAmount) throw expected('a number from 0 such as 12.50', value);
  return Number(value);
}

/** The number of a page, from 1. */
export const pageNumber = wholeNumber(999_999_999, 'a whole number from 1');

/** How many rows a page has, as far as the partner goes. */
export const pageSize = wholeNumber(MAX_PAGE_SIZE, `a whole number from 1 to ${MAX_PAGE_SIZE}`);

function wholeNumber(most: number, words: string) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d{1,9}$/.test(value) || number < 1 || number > most) throw expected(words, value);
    return number;
  };
}

/** What to search for: nothing would find everything. */
export function searchText(value: string): string {
  if (value === '') throw expected('an order id or a reference', 'nothing');
  return value;
}

/** A duration such as `72h`, read as `RECONCILE_LOOKBACK` is: milliseconds. */
export function period(value: string): number {
  const lookback = loadConfig().parseLookback(value);
  if (lookback.ms === undefined) throw expected(lookback.expected, value);
  return lookback.ms;
}

/** A state of a purchase, in capitals or not. */
export function purchaseState(value: string): PurchaseState {
  const known = PURCHASE_STATES.find((state) => state === value.toUpperCase());
  if (!known) throw expected(`one of ${PURCHASE_STATES.join(', ')}`, value);
  return known;
}

function expected(words: string, value: string): InvalidArgumentError {
  return new InvalidArgumentError(`expected ${words}, got ${value}`);
}
