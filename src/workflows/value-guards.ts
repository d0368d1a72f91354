import { isSafeOrderId } from '../domain/order';
import { LONGEST_RETRY_AFTER_MS } from '../domain/retry-after';

/** The parts of which the guards of activity results and of workflow inputs are made: a value may be anything. */

type Fields<T> = { [Key in keyof T]?: unknown };
export type FieldsOfAll<T> = Record<T extends unknown ? keyof T : never, unknown>;

/** The fields of an object, all of them unknown; none if it is no object. */
export function fieldsOf<T>(value: unknown): Fields<T> {
  return typeof value === 'object' && value !== null ? value : {};
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Whether this is a number that JSON can hold. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Whether this is an instant in epoch ms, and a day later is one too. */
export function isInstant(value: unknown): boolean {
  return isNumber(value) && value >= 0 && value < 8e15;
}

/** Whether this is a pause in ms, and none that never ends. */
export function isPause(value: unknown): boolean {
  return isNumber(value) && value >= 0 && value <= LONGEST_RETRY_AFTER_MS;
}

/** Whether this is an instant in ISO 8601. */
export function isDate(value: unknown): boolean {
  return isString(value) && !Number.isNaN(Date.parse(value));
}

export function isOrderId(value: unknown): boolean {
  return isString(value) && isSafeOrderId(value);
}

export function isListOf(value: unknown, isEntry: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isEntry);
}

/** JSON of other languages has null where there is nothing. */
export function isOptional(value: unknown, isPresent: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || isPresent(value);
}
