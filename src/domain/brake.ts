/**
 * Why no further placement is of use for now.
 *
 * - `UNKNOWN`: it is open whether the partner bought.
 * - `ACCESS_REFUSED`: the partner refuses us: a rotated key, a wrong prefix.
 * - `NO_BALANCE`: the account has no balance left (402).
 * - `UNREACHABLE`: the partner can't be reached, or does not show its order history.
 * - `REFUSED`: the partner refuses every order (400, 413, 415, 422).
 */
export const BRAKE_REASONS = ['UNKNOWN', 'ACCESS_REFUSED', 'NO_BALANCE', 'UNREACHABLE', 'REFUSED'] as const;

export type BrakeReason = (typeof BRAKE_REASONS)[number];

/** What one placement has shown of the partner: `GOOD`, it takes orders; `NOTHING`, neither the one nor the other. */
export type PlacementSign = BrakeReason | 'GOOD' | 'NOTHING';

/** A purchase whose placement went wrong; the latest of a row stands last. */
export interface FailedPlacement {
  referenceId: string;
  sign: BrakeReason;
}

/**
 * So many purchases in a row close the brake. By chance, one that fails in twenty is followed by four others once in three million;
 * and one purchase alone, whatever it does to the partner, stops nobody else's: it stands in a row only once.
 */
export const ROW_TO_CLOSE = 5;
/** The same without a balance: what each of them costs is a sale, and one order may only have been too large. */
export const ROW_WITHOUT_BALANCE = 2;

/** The same of orders that were refused for their own sake: one product that is sold out is refused to several in a row. */
export const ROW_OF_REFUSED = 10;

/** The row of purchases that failed one after the other, after one more placement. */
export function nextRow(
  row: readonly FailedPlacement[],
  { referenceId, sign }: { referenceId: string; sign: PlacementSign },
): FailedPlacement[] {
  if (sign === 'GOOD') return [];
  if (sign === 'NOTHING') return [...row];
  const others = row.filter((one) => one.referenceId !== referenceId);
  return [...others, { referenceId, sign }].slice(-ROW_TO_CLOSE - ROW_OF_REFUSED);
}

/**
 * An order that is refused is no sign of a partner that takes orders, and none of one that takes none: only very many are.
 *
 * @returns why further placements are to wait; undefined as long as they are not.
 */
export function reasonToClose(row: readonly FailedPlacement[]): BrakeReason | undefined {
  const failed = row.filter(({ sign }) => sign !== 'REFUSED');
  const withoutBalance = failed.slice(-ROW_WITHOUT_BALANCE).filter(({ sign }) => sign === 'NO_BALANCE');
  if (withoutBalance.length === ROW_WITHOUT_BALANCE) return 'NO_BALANCE';
  if (failed.length >= ROW_TO_CLOSE) return failed.at(-1)?.sign;
  return isRefusedToAll(row) ? 'REFUSED' : undefined;
}

/**
 * What the purchase that was let through does to a closed brake.
 *
 * @param sign what it has shown of the partner; undefined: nothing was heard of it.
 * @param row with that purchase.
 */
export function effectOfLetThrough(
  sign: PlacementSign | undefined,
  row: readonly FailedPlacement[],
): 'OPENS' | 'FAILS' | 'NONE' {
  if (sign === 'GOOD') return 'OPENS';
  if (sign === 'NOTHING') return 'NONE';
  if (sign === 'REFUSED') return isRefusedToAll(row) ? 'FAILS' : 'NONE';
  return 'FAILS';
}

/**
 * Whom a closed brake lets through: the newest, which has the most time left, of those that have not failed yet. So one product that
 * the partner can't sell holds up the others for as long as its purchases are tried, and no longer.
 *
 * @param waiting references, newest first.
 * @param tried those that failed or were let through, the latest last.
 */
export function nextToLetThrough(waiting: readonly string[], tried: readonly string[]): string | undefined {
  return waiting.toSorted((one, other) => tried.lastIndexOf(one) - tried.lastIndexOf(other))[0];
}

function isRefusedToAll(row: readonly FailedPlacement[]): boolean {
  return row.filter(({ sign }) => sign === 'REFUSED').length >= ROW_OF_REFUSED;
}

/** In words, for people. */
export const BRAKE_REASON_IN_WORDS: Record<BrakeReason, string> = {
  UNKNOWN: 'of several placements in a row it is open whether the partner bought',
  ACCESS_REFUSED: 'the partner refuses us: a wrong key or prefix',
  NO_BALANCE: 'the balance at the partner is gone',
  UNREACHABLE: 'the partner can not be reached',
  REFUSED: 'the partner refuses every order',
};
