import { InvalidArgumentError } from 'commander';
import type { PurchaseItem } from '../domain/order';
import { validateMaxDebit, validateOrderId, validateReference } from '../domain/purchase-rules';
import { PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';
import { parseLookback } from '../config';
// Not from its index, which loads the client.
import { MAX_PAGE_SIZE } from '../partner/types';

/** @throws InvalidArgumentError that says what a reference is. */
export function reference(value: string): string {
  const [fault] = validateReference(value);
  if (fault) throw new InvalidArgumentError(fault);
  return value;
}

/** `PRODUCT:QUANTITY`; the last colon separates, because a product id may hold one. */
export function item(value: string, before: PurchaseItem[] = []): PurchaseItem[] {
  const colon = value.lastIndexOf(':');
  const quantity = value.slice(colon + 1);
  if (colon < 1 || !/^\d{1,9}$/.test(quantity)) {
    throw new InvalidArgumentError(`expected PRODUCT:QUANTITY such as steam-50:2, got ${value}`);
  }
  return [...before, { productId: value.slice(0, colon), quantity: Number(quantity) }];
}

/** The id of an order at the partner, which is to become part of a URL. */
export function orderId(value: string): string {
  const [fault] = validateOrderId(value);
  if (fault) throw new InvalidArgumentError(fault);
  return value;
}

/** A decimal number from 0. */
export function amount(value: string): number {
  const number = Number(value);
  const [fault] = /^\d{1,15}(\.\d{1,6})?$/.test(value) ? validateMaxDebit(number) : ['no decimal number'];
  if (fault) throw new InvalidArgumentError(`expected a number from 0 such as 12.50, got ${value}`);
  return number;
}

/** The number of a page, from 1. */
export function pageNumber(value: string): number {
  return wholeNumber(value, 999_999_999, 'a whole number from 1');
}

/** How many rows a page has, as far as the partner goes. */
export function pageSize(value: string): number {
  return wholeNumber(value, MAX_PAGE_SIZE, `a whole number from 1 to ${MAX_PAGE_SIZE}`);
}

function wholeNumber(value: string, most: number, expected: string): number {
  const number = Number(value);
  if (!/^\d{1,9}$/.test(value) || number < 1 || number > most) {
    throw new InvalidArgumentError(`expected ${expected}, got ${value}`);
  }
  return number;
}

/** What to search for: nothing would find everything. */
export function searchText(value: string): string {
  if (value === '') throw new InvalidArgumentError('expected an order id or a reference, got nothing');
  return value;
}

/** A duration such as `72h`, read as `RECONCILE_LOOKBACK` is: milliseconds. */
export function period(written: string): number {
  try {
    return parseLookback(written);
  } catch (error) {
    throw new InvalidArgumentError(`expected ${(error as Error).message}, got ${written}`);
  }
}

/** A state of a purchase, in capitals or not. */
export function purchaseState(written: string): PurchaseState {
  const known = PURCHASE_STATES.find((state) => state === written.toUpperCase());
  if (!known) throw new InvalidArgumentError(`expected one of ${PURCHASE_STATES.join(', ')}, got ${written}`);
  return known;
}
