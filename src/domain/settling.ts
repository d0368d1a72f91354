import { isBillable } from './order';
import type { PlacementEvidence } from './placement';

/**
 * When to look in the history after a placement of unknown outcome: soon, then with growing gaps, over the whole
 * settling time.
 *
 * @param settleMs the settling time.
 * @returns the pauses before each look, in ms; together they are `settleMs`.
 */
export function settlingPauses(settleMs: number): number[] {
  return [1, 2, 4, 8, 15, 30].map((share) => Math.round((settleMs * share) / 60));
}

/** How many settling times are waited for a history that can't be read before a person is asked. */
export const SETTLING_ROUNDS = 3;

/** Whether an order that was shown absent may be placed again under `PURCHASE_REPLACE`. */
export function mayReplace(policy: 'never' | 'answered' | 'always', evidence: PlacementEvidence): boolean {
  if (policy === 'always') return true;
  return policy === 'answered' && evidence === 'ANSWERED';
}

/**
 * Chooses the order to adopt when the order history shows one or several for a reference: the oldest that is billable,
 * else the oldest. The other billable ones are double purchases.
 */
export function chooseOrder<T extends { status: string; createdAt: string }>(
  found: readonly T[],
): { adopt: T; doubles: T[] } | undefined {
  const byAge = found.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const billable = byAge.filter(isBillable);
  const adopt = billable[0] ?? byAge[0];
  return adopt && { adopt, doubles: billable.filter((order) => order !== adopt) };
}

/**
 * The pause before the next attempt at a placement that was surely not sent, or refused for our own fault: doubling from
 * 2 s to 1 min, never shorter than what the partner asked for.
 */
export function placementPause(attempt: number, askedForMs = 0): number {
  return Math.max(Math.min(2_000 * 2 ** (attempt - 1), 60_000), askedForMs);
}
