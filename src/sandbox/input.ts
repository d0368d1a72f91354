/** What someone sent is not usable. The message says what and why, and repeats nothing secret. */
export class BadInput extends Error {}

export type Fields = Record<string, unknown>;

/** @throws BadInput unless `value` is an object with no other fields than `allowed` */
export function fieldsOf(value: unknown, what: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadInput(`${what}: not an object`);
  const unknown = Object.keys(value).filter((name) => !allowed.includes(name));
  if (unknown.length > 0) {
    throw new BadInput(`${what}: unknown ${unknown.join(', ')}; there is ${allowed.join(', ')}`);
  }
  return value as Fields;
}

/** @throws BadInput */
export function integer(value: unknown, what: string, from: number, to = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to) return value as number;
  throw new BadInput(`${what}: needs an integer from ${from}${to === Number.MAX_SAFE_INTEGER ? '' : ` to ${to}`}`);
}

/** @throws BadInput */
export function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new BadInput(`${what}: needs a text that is not empty`);
}

/** @throws BadInput */
export function oneOf<T extends string>(value: unknown, what: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new BadInput(`${what}: needs one of ${words.join(', ')}`);
}

/** @throws BadInput */
export function list(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadInput(`${what}: needs a list`);
}

/** Applies `read` unless the field is absent. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}
