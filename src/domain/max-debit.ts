import { toMicros } from './money';
import type { PurchaseItem } from './order';

/** What one piece of a product costs, as the catalogue shows it. */
export interface ProductPrice {
  price: number;
  /** As the partner wrote it: compared, never shown. */
  currency: string;
}

/**
 * Whether a purchase may cost more than it names: the prices of the catalogue times the quantities, added in decimals. The
 * partner does not show in which currency it debits, so the numbers are compared as they stand.
 *
 * @param maxDebit the most that the purchase may cost.
 * @returns why it is not to be placed; undefined where it costs no more.
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
    if (!shown || price === undefined || price < 0n) return `the catalogue shows no price of ${productId}`;
    currencies.add(shown.currency);
    total += price * BigInt(quantity);
  }
  if (currencies.size > 1) return 'the catalogue shows the prices of its products in several currencies';
  const most = toMicros(maxDebit);
  if (most !== undefined && total <= most) return undefined;
  return `by the catalogue it costs ${decimal(total)}, and ${maxDebit} is the most that it may cost`;
}

/** Millionths as a decimal number, without zeros at its end. */
function decimal(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -6) : `${digits.slice(0, -6)}.${fraction}`;
}
