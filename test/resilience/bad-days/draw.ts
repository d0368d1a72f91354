import { seededRandom, type SeededRandom } from '../../../sandbox/seeded-random';

/** What a seed draws. The same seed draws the same, in the same order. */
export interface Draw {
  /** A whole number from one bound to the other, both included. */
  from(least: number, most: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the names, each as often as its weight says. */
  weighted<T extends string>(weights: Record<T, number>): T;
}

export function drawOf(seed: number): Draw {
  const random: SeededRandom = seededRandom('bad day', seed);
  const draw: Draw = {
    from: (least, most) => least + random.below(most - least + 1),
    chance: (share) => random.fraction() < share,
    pick: (list) => random.pick(list as [never, ...never[]]),
    weighted(weights) {
      const entries = Object.entries(weights) as [never, number][];
      let left = random.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]!)[0];
    },
  };
  return draw;
}
