import type { OrderLine } from '../../../src/domain/order';

/** A line of an order. Each letter of `keys` stands for one key. */
export function line(productId: string, keys: string, quantity?: number): OrderLine {
  return { productId, quantity, keyIds: keys.split('') };
}

/** The keys of these lines, one letter each. */
export function keysIn(lines: readonly { keyIds: readonly string[] }[]): string {
  return lines.flatMap(({ keyIds }) => keyIds).join('');
}
