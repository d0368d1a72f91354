import { seededRandom, type SeededRandom } from '../../../sandbox/seeded-random';

export type Draw = ReturnType<typeof drawOf>;

/** Random values of a seed. The same seed gives the same values in the same order. */
export function drawOf(seed: number) {
  const random: SeededRandom = seededRandom('bad day', seed);
  return {
    /** A whole number between the bounds, including both. */
    from: (least: number, most: number): number => least + random.below(most - least + 1),
    chance: (share: number): boolean => random.fraction() < share,
    pick: <T>(list: readonly T[]): T => random.pick(list as [T, ...T[]]),
    /** One of the names, with the probability of its weight. */
    weighted<T extends string>(weights: Record<T, number>): T {
      const entries = Object.entries(weights) as [T, number][];
      let left = random.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]!)[0];
    },
  };
}
