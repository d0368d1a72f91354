import type { Plan } from './plan';

export interface ShrinkLimits {
  /** Limit on the number of days that are tried; what is left then is the result. */
  most: number;
  /** This many days run at once. */
  atOnce: number;
}

/**
 * Shrinks a plan while its day fails in the same way. It leaves out whole groups of events, purchases and faults, then
 * ever smaller groups (delta debugging), and at last restores the settings of a good day.
 *
 * @param fails runs the day of a plan
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

/** Settings that most failures do not need, replaced by those of a good day. */
const SIMPLER: ((plan: Plan) => Plan)[] = [
  (plan) => ({ ...plan, partner: { ...plan.partner, settings: { speed: plan.partner.settings.speed } } }),
  (plan) => ({ ...plan, partner: { ...plan.partner, pastOrders: 0 } }),
  (plan) => ({ ...plan, workers: 1 }),
  (plan) => ({ ...plan, maxRps: undefined }),
  (plan) => ({ ...plan, settings: { ...plan.settings, watch: 'orders' } }),
];

/** @param troubles the faults and lists of responses to keep */
function withTroubles(plan: Plan, troubles: readonly object[]): Plan {
  const purchases = plan.purchases.map((one) => ({
    ...one,
    faults: one.faults.filter((fault) => troubles.includes(fault)),
    answers: troubles.includes(one.answers) ? one.answers : [],
  }));
  return { ...plan, purchases };
}

/** @returns the part of the list without which no failure was seen, in its order */
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
