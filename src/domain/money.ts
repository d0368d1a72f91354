import type { PurchaseItem } from './order';
import { inOneLine } from './texts';

const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);

/**
 * An amount in whole millionths. The partner names neither its currency nor its unit, so this is finer than any minor unit
 * in use, and coarse enough that the rounding error of a floating-point sum (0.1 + 0.2) is no difference.
 * @returns undefined for what is no amount: not finite, or 10^21 and beyond
 */
export function toMicros(amount: number): bigint | undefined {
  if (!Number.isFinite(amount) || Math.abs(amount) >= 1e21) return undefined;
  return BigInt(amount.toFixed(DECIMALS).replace('.', ''));
}

/** The decimal number that is nearest to so many millionths. */
export function fromMicros(micros: bigint): number {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(DECIMALS + 1, '0');
  return Number(`${micros < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`);
}

/** Whether two amounts are equal in millionths. What is no amount equals nothing. */
export function sameAmount(one: number, other: number): boolean {
  const micros = toMicros(one);
  return micros !== undefined && micros === toMicros(other);
}

/** The sum of those that are amounts, exact in decimals. */
export function sumOfAmounts(amounts: Iterable<number | undefined>): number {
  let micros = 0n;
  for (const amount of amounts) micros += toMicros(amount ?? 0) ?? 0n;
  return fromMicros(micros);
}

/** Whether `part` is the price of `count` out of `of` pieces that cost `whole` together, to half a cent for each piece. */
export function isShareOf(whole: number, part: number, count: number, of: number): boolean {
  const [wholeMicros, partMicros] = [toMicros(whole), toMicros(part)];
  if (wholeMicros === undefined || partMicros === undefined) return false;
  const difference = partMicros * BigInt(of) - wholeMicros * BigInt(count);
  return (difference < 0n ? -difference : difference) <= (BigInt(of) * ONE) / 200n;
}

/** What one piece of a product costs, as the catalogue shows it. */
export interface ProductPrice {
  price: number;
  /** As the partner wrote it: compared, never shown. */
  currency: string;
}

/**
 * Whether a purchase may cost more than it names: the prices of the catalogue times the quantities, added in decimals. The
 * partner does not show in which currency it debits, so the numbers are compared as they stand.
 * @returns why it is not to be placed; undefined where it costs no more
 */
export function maxDebitIssue(
  items: readonly PurchaseItem[],
  maxDebit: number,
  prices: ReadonlyMap<string, ProductPrice>,
): string | undefined {
  let total = 0n;
  const currencies = new Set<string>();
  for (const { productId, quantity } of items) {
    const shown = prices.get(productId);
    const price = shown && toMicros(shown.price);
    if (!shown || price === undefined || price < 0n)
      return inOneLine(`the catalogue shows no price of ${productId}`, 300);
    currencies.add(shown.currency);
    total += price * BigInt(quantity);
  }
  if (currencies.size > 1) return 'the catalogue shows the prices of its products in several currencies';
  const most = toMicros(maxDebit);
  if (most !== undefined && total <= most) return undefined;
  return `by the catalogue it costs ${fromMicros(total)}, and ${maxDebit} is the most that it may cost`;
}
