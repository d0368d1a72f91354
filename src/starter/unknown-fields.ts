import type { PurchaseInput } from '../contracts/public-types';
import type { PurchaseItem } from '../domain/order';
import { toSingleLine } from '../domain/text-format';
import { didYouMean } from './did-you-mean';

const PURCHASE_FIELDS = namesOf<PurchaseInput>({ referenceId: true, items: true, maxDebit: true });
const ITEM_FIELDS = namesOf<PurchaseItem>({ productId: true, quantity: true });
const MAX_NAME_LENGTH = 60;

/**
 * Names the fields that a purchase does not have. Without types, nothing else would find a misspelt `maxDebit`, and
 * the purchase would have no limit. Only the library is this strict: workflows ignore such fields.
 *
 * @returns one sentence for each.
 */
export function unknownFields(input: unknown): string[] {
  const { items } = (input ?? {}) as { items?: unknown };
  const inItems = Array.isArray(items)
    ? items.flatMap((item, index) => othersIn(item, ITEM_FIELDS, `items[${index}]: `))
    : [];
  return [...othersIn(input, PURCHASE_FIELDS), ...inItems];
}

function othersIn(value: unknown, known: readonly string[], where = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return others.map((name) => {
    const got = `${toSingleLine(name, MAX_NAME_LENGTH)}${didYouMean(name, known)}`;
    return `${where}expected only the fields ${known.join(', ')}, got ${got}`;
  });
}

/** The compiler compares the names with those of the type. */
function namesOf<T>(fields: Record<keyof T, true>): string[] {
  return Object.keys(fields);
}
