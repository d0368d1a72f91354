import type { PurchaseInput } from '../contracts/public-types';
import type { PurchaseItem } from '../domain/purchase-item';
import { quoteValue } from '../domain/purchase-rules';
import { toSingleLine } from '../domain/text-format';
import { didYouMean } from './did-you-mean';
import { InvalidArgumentError } from './errors';

const PURCHASE_FIELDS = namesOf<PurchaseInput>({ referenceId: true, items: true, maxDebit: true });
const ITEM_FIELDS = namesOf<PurchaseItem>({ productId: true, quantity: true });
const MAX_NAME_LENGTH = 60;

/**
 * Finds fields that a purchase does not have: JavaScript callers might misspell `maxDebit` and buy without a limit. Only
 * the library is this strict. Workflows ignore unknown fields.
 *
 * @returns one sentence for each unknown field.
 */
export function unknownFields(input: unknown): string[] {
  const { items } = (input ?? {}) as { items?: unknown };
  const inItems = Array.isArray(items)
    ? items.flatMap((item, index) => unknownIn(item, ITEM_FIELDS, `items[${index}]: `))
    : [];
  return [...unknownIn(input, PURCHASE_FIELDS), ...inItems];
}

/**
 * Checks the options of a method.
 *
 * @throws InvalidArgumentError if this is no object, or that names the first unknown field.
 */
export function checkFields(value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null) {
    throw new InvalidArgumentError(`expected an object with the fields ${known.join(', ')}, got ${quoteValue(value)}`);
  }
  const [unknown] = unknownIn(value, known);
  if (unknown !== undefined) throw new InvalidArgumentError(unknown);
}

function unknownIn(value: unknown, known: readonly string[], where = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return others.map((name) => {
    const got = `${toSingleLine(name, MAX_NAME_LENGTH)}${didYouMean(name, known)}`;
    return `${where}expected only the fields ${known.join(', ')}, got ${got}`;
  });
}

/** The compiler compares the names with those of the type. */
export function namesOf<T>(fields: Record<keyof T, true>): string[] {
  return Object.keys(fields);
}
