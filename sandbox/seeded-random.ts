import { createHash } from 'node:crypto';

/** Repeatable random numbers: a seed gives the same sequence on every machine. */
export interface SeededRandom {
  /** A number in [0, 1). */
  fraction(): number;
  /** An integer in [0, limit). */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** `length` characters from `alphabet`. */
  string(alphabet: string, length: number): string;
}

/** Creates a generator that depends only on its seed. */
export function seededRandom(...seed: (string | number)[]): SeededRandom {
  let pool = createHash('sha256').update(JSON.stringify(seed)).digest();
  let used = 0;

  const fraction = (): number => {
    if (used + 4 > pool.length) {
      pool = createHash('sha256').update(pool).digest();
      used = 0;
    }
    const value = pool.readUInt32BE(used);
    used += 4;
    return value / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);

  return {
    fraction,
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    string: (alphabet, length) => Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join(''),
  };
}
