import type { PurchaseItem } from './purchase-item';
import { toSingleLine } from './text-format';

const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);

/**
 * Converts an amount to millionths. The partner documents neither currency nor unit, so this is finer than any minor
 * unit in use, but coarse enough to absorb the rounding error of floating-point sums such as 0.1 + 0.2.
 * @returns undefined if it is not finite or has an absolute value of 10^21 or more
 */
export function toMicros(amount: number): bigint | undefined {
  if (!Number.isFinite(amount) || Math.abs(amount) >= 1e21) return undefined;
  return BigInt(amount.toFixed(DECIMALS).replace('.', ''));
}

/** The number nearest to an amount in millionths. */
export function fromMicros(micros: bigint): number {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(DECIMALS + 1, '0');
  return Number(`${micros < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`);
}

/** Whether two amounts are equal in millionths. An invalid amount equals nothing. */
export function isSameAmount(one: number, other: number): boolean {
  const micros = toMicros(one);
  return micros !== undefined && micros === toMicros(other);
}

/** The exact decimal sum of the valid amounts. */
export function sumOfAmounts(amounts: Iterable<number | undefined>): number {
  let micros = 0n;
  for (const amount of amounts) micros += toMicros(amount ?? 0) ?? 0n;
  return fromMicros(micros);
}

/** Whether `part` is the price of `count` out of `of` pieces that cost `whole`, within half a cent per piece. */
export function isShareOf(whole: number, part: number, count: number, of: number): boolean {
  const [wholeMicros, partMicros] = [toMicros(whole), toMicros(part)];
  if (wholeMicros === undefined || partMicros === undefined) return false;
  const difference = partMicros * BigInt(of) - wholeMicros * BigInt(count);
  return (difference < 0n ? -difference : difference) <= (BigInt(of) * ONE) / 200n;
}

/** The price of one piece in the catalogue. `currency` is as the partner wrote it: compared, but never shown. */
export type ProductPrice = { price: number; currency: string } | 'unreadable';

/**
 * Checks the total catalogue price against `maxDebit`. The partner does not document the currency of its debits, so the
 * numbers are compared without conversion. If a product has several prices, the highest counts; if one is unreadable,
 * none does.
 *
 * @param prices all prices of each product
 * @returns why the order must not be placed; undefined if it may be placed
 */
export function maxDebitIssue(
  items: readonly PurchaseItem[],
  maxDebit: number,
  prices: ReadonlyMap<string, readonly ProductPrice[]>,
): string | undefined {
  let total = 0n;
  const currencies = new Set<string>();
  for (const { productId, quantity } of items) {
    const listed = prices.get(productId) ?? [];
    const shown = listed.filter((price) => price !== 'unreadable');
    if (shown.length < listed.length)
      return toSingleLine(`a price of ${productId} in the catalogue is unreadable`, 300);
    const highest = toMicros(shown.reduce((high, { price }) => Math.max(high, price), -1)) ?? -1n;
    if (highest < 0n) return toSingleLine(`the catalogue shows no price for ${productId}`, 300);
    for (const { currency } of shown) currencies.add(currency);
    total += highest * BigInt(quantity);
  }
  if (currencies.size > 1) return 'the catalogue shows these products in different currencies';
  const limit = toMicros(maxDebit);
  if (limit !== undefined && total <= limit) return undefined;
  return `the catalogue price is ${fromMicros(total)}, but the maximum for this purchase is ${maxDebit}`;
}
