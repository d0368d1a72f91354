import type { OrderLine } from '../../../src/domain/order';

/** A line of an order; `keys` has a letter for each of its keys. */
export function line(productId: string, keys: string, quantity?: number): OrderLine {
  return { productId, quantity, keyIds: keys.split('') };
}

/** The keys of lines, a letter for each. */
export function keysIn(lines: readonly { keyIds: readonly string[] }[]): string {
  return lines.flatMap(({ keyIds }) => keyIds).join('');
}
