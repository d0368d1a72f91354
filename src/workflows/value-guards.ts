import { isSafeOrderId } from '../domain/order';
import { LONGEST_RETRY_AFTER_MS } from '../domain/retry-after';

/*
 * What workflow code checks values with that somebody else made: inputs, updates, and activity results, because an operator can complete
 * any activity with anything. Not zod: the modules of a workflow bundle are frozen, and zod completes its schemas as it uses them.
 */

export type Guard<T> = (value: unknown) => value is T;

/** The type that a guard lets pass. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

const guard = <T>(test: (value: unknown) => boolean): Guard<T> => test as Guard<T>;

export const isString = guard<string>((value) => typeof value === 'string');
export const isBoolean = guard<boolean>((value) => typeof value === 'boolean');
/** A number that JSON can hold. */
export const isNumber = guard<number>((value) => Number.isFinite(value));
/** A pause in ms that ends some time. */
export const isPause = guard<number>((value) => isNumber(value) && value >= 0 && value <= LONGEST_RETRY_AFTER_MS);
export const isOrderId = guard<string>((value) => isString(value) && isSafeOrderId(value));

/** JSON of other languages has null where there is nothing. */
export function isOptional<T>(isPresent: Guard<T>): Guard<T | undefined> {
  return guard((value) => value === undefined || value === null || isPresent(value));
}

export function isListOf<T>(isEntry: Guard<T>): Guard<T[]> {
  return guard((value) => Array.isArray(value) && value.every(isEntry));
}

export function isRecordOf<T>(isValue: Guard<T>): Guard<Record<string, T>> {
  return guard((value) => isRecord(value) && Object.values(value).every(isValue));
}

export function isOneOf<const T extends string>(...texts: readonly T[]): Guard<T> {
  return guard((value) => texts.some((text) => text === value));
}

/** An object with at least these fields. */
export function isObject<Fields extends Record<string, Guard<unknown>>>(
  fields: Fields,
): Guard<{ [Name in keyof Fields]: Guarded<Fields[Name]> }> {
  return guard((value) => isRecord(value) && Object.entries(fields).every(([name, isField]) => isField(value[name])));
}

export function isEither<T, U>(isOne: Guard<T>, isOther: Guard<U>): Guard<T | U> {
  return guard((value) => isOne(value) || isOther(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
