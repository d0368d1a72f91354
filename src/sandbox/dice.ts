import { createHash } from 'node:crypto';

/** Repeatable chance: the same parts give the same throws, in the same order, on every machine. */
export interface Dice {
  /** A number in [0, 1). */
  fraction(): number;
  /** An integer in [0, below). */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** `length` characters out of `alphabet`. */
  text(alphabet: string, length: number): string;
}

/** Dice that depend on nothing but `parts`. */
export function dice(...parts: (string | number)[]): Dice {
  let pool = createHash('sha256').update(JSON.stringify(parts)).digest();
  let used = 0;

  const next = (): number => {
    if (used + 4 > pool.length) {
      pool = createHash('sha256').update(pool).digest();
      used = 0;
    }
    const value = pool.readUInt32BE(used);
    used += 4;
    return value;
  };
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);

  return {
    fraction: () => next() / 2 ** 32,
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    text: (alphabet, length) => Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join(''),
  };
}
