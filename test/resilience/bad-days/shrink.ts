import type { Plan } from './plan';

export interface ShrinkLimits {
  /** So many days are lived at the most; what is left then is the result. */
  most: number;
  /** So many of them at a time. */
  atOnce: number;
}

/**
 * Makes a plan smaller as long as its day fails in the same way: first without whole groups of its events, purchases and
 * faults, then of ever smaller groups (delta debugging), at last with the settings of a good day.
 *
 * @param fails lives the day of a plan.
 */
export async function shrink(
  plan: Plan,
  fails: (plan: Plan) => Promise<boolean>,
  { most, atOnce }: ShrinkLimits,
): Promise<Plan> {
  let left = most;
  const stillFails = async (smaller: Plan) => left-- > 0 && fails(smaller);
  async function shrunk<T>(parts: readonly T[], withParts: (kept: T[]) => Plan): Promise<Plan> {
    return withParts(await shrinkList(parts, (kept) => stillFails(withParts(kept)), atOnce));
  }
  let smallest = await shrunk(plan.events, (events) => ({ ...plan, events }));
  const { purchases } = smallest;
  smallest = await shrunk(purchases, (kept) => ({ ...smallest, purchases: kept }));
  const troubles = smallest.purchases.flatMap(({ faults, answers }) => [...faults, answers]);
  smallest = await shrunk<object>(troubles, (kept) => withTroubles(smallest, kept));
  for (const simpler of SIMPLER) {
    const candidate = simpler(smallest);
    if (JSON.stringify(candidate) !== JSON.stringify(smallest) && (await stillFails(candidate))) smallest = candidate;
  }
  return smallest;
}

/** What is not needed by most failures, replaced by what would be on a good day. */
const SIMPLER: ((plan: Plan) => Plan)[] = [
  (plan) => ({ ...plan, partner: { ...plan.partner, settings: { speed: plan.partner.settings.speed } } }),
  (plan) => ({ ...plan, partner: { ...plan.partner, pastOrders: 0 } }),
  (plan) => ({ ...plan, workers: 1 }),
  (plan) => ({ ...plan, maxRps: undefined }),
  (plan) => ({ ...plan, settings: { ...plan.settings, watch: 'orders' } }),
];

/** @param troubles which faults, and which lists of answers, are kept */
function withTroubles(plan: Plan, troubles: readonly object[]): Plan {
  const purchases = plan.purchases.map((one) => ({
    ...one,
    faults: one.faults.filter((fault) => troubles.includes(fault)),
    answers: troubles.includes(one.answers) ? one.answers : [],
  }));
  return { ...plan, purchases };
}

/** @returns a part of the list, in its order, without any part of which it was not seen to fail. */
async function shrinkList<T>(list: readonly T[], fails: (list: T[]) => Promise<boolean>, atOnce: number): Promise<T[]> {
  let kept = [...list];
  for (let size = kept.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < kept.length;) {
      const before = kept;
      const places = Array.from({ length: atOnce }, (_, index) => at + index * size).filter(
        (place) => place < kept.length,
      );
      const candidates = places.map((place) => [...before.slice(0, place), ...before.slice(place + size)]);
      const failing = (await Promise.all(candidates.map(fails))).indexOf(true);
      if (failing >= 0) kept = candidates[failing]!;
      at = failing >= 0 ? places[failing]! : places.at(-1)! + size;
    }
  }
  return kept;
}
