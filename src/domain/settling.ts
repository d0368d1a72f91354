import { isBillable } from './order';
import type { PlacementEvidence } from './placement';

/** Whether an order that was shown absent may be placed again under `PURCHASE_REPLACE`. */
export function mayReplace(
  policy: 'never' | 'answered' | 'always',
  evidence: PlacementEvidence | 'NEVER_WRITTEN',
): boolean {
  if (policy === 'always') return true;
  return policy === 'answered' && (evidence === 'ANSWERED' || evidence === 'NEVER_WRITTEN');
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
