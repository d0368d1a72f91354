/**
 * Why no further placement is of use for now.
 *
 * - `UNKNOWN`: it is open whether the partner bought.
 * - `ACCESS_REFUSED`: the partner refuses us: a rotated key, a wrong prefix.
 * - `NO_BALANCE`: the account has no balance left (402).
 * - `UNREACHABLE`: the partner can't be reached, or does not show its order history.
 */
export const BRAKE_REASONS = ['UNKNOWN', 'ACCESS_REFUSED', 'NO_BALANCE', 'UNREACHABLE'] as const;

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

/** The row of purchases that failed one after the other, after one more placement. */
export function nextRow(
  row: readonly FailedPlacement[],
  { referenceId, sign }: { referenceId: string; sign: PlacementSign },
): FailedPlacement[] {
  if (sign === 'GOOD') return [];
  if (sign === 'NOTHING') return [...row];
  const others = row.filter((one) => one.referenceId !== referenceId);
  return [...others, { referenceId, sign }].slice(-ROW_TO_CLOSE);
}

/** @returns why further placements are to wait; undefined as long as they are not. */
export function reasonToClose(row: readonly FailedPlacement[]): BrakeReason | undefined {
  const latest = row.at(-1)?.sign;
  const withoutBalance = row.slice(-ROW_WITHOUT_BALANCE).filter(({ sign }) => sign === 'NO_BALANCE');
  if (withoutBalance.length === ROW_WITHOUT_BALANCE) return 'NO_BALANCE';
  return row.length >= ROW_TO_CLOSE ? latest : undefined;
}

/** In words, for people. */
export const BRAKE_REASON_IN_WORDS: Record<BrakeReason, string> = {
  UNKNOWN: 'of several placements in a row it is open whether the partner bought',
  ACCESS_REFUSED: 'the partner refuses us: a wrong key or prefix',
  NO_BALANCE: 'the balance at the partner is gone',
  UNREACHABLE: 'the partner can not be reached',
};
