import { isBillable } from './order';

/**
 * What the end of one place-order request proves. The partner promises no idempotency and shows no error format, so an answer
 * is evidence, not a fact about money, until it says plainly that nothing was bought. `partner/errors.ts` decides which is which.
 *
 * - `NOT_SENT`: the request never left this process. Sending it again is safe.
 * - `PLACED`: the partner took the order and named its id.
 * - `ORDER_REFUSED`: the partner refused this order.
 * - `ACCESS_REFUSED`: the partner refused us, whatever the order: a rotated key, a wrong prefix.
 * - `CONFLICT`: the order is probably there already.
 * - `ANSWERED`: the partner answered with an error that leaves open whether it bought.
 * - `UNKNOWN`: anything else: no answer, half an answer, an answer that can't be read.
 */
export type RequestEvidence =
  'NOT_SENT' | 'PLACED' | 'ORDER_REFUSED' | 'ACCESS_REFUSED' | 'CONFLICT' | 'ANSWERED' | 'UNKNOWN';

/**
 * What one attempt at a placement proves. Beyond the request itself:
 *
 * - `FOUND`: the search before the request shows an order. Nothing was sent.
 * - `OVER_MAX_DEBIT`: it may cost more than the purchase allows. Nothing was sent.
 * - `PAUSED`: the circuit breaker is open. Nothing was sent.
 * - `FENCED`: this attempt may not send, because an earlier one or an earlier run may have. It sent nothing itself.
 * - `NEVER_WRITTEN`: its worker stopped before it recorded that it would write.
 */
export type PlacementEvidence = RequestEvidence | 'FOUND' | 'OVER_MAX_DEBIT' | 'PAUSED' | 'FENCED' | 'NEVER_WRITTEN';

/** What an attempt proves, short of an order. */
export type Unplaced = Exclude<PlacementEvidence, 'PLACED' | 'FOUND'>;

/** What is done next about a purchase that has no order yet. */
export type NextStep =
  | { kind: 'attempt' }
  /** Ends without an order. */
  | { kind: 'end'; outcome: 'NOT_PLACED' | 'REJECTED' }
  | { kind: 'hold' }
  | Confirm;

/** Searches the order history. An order that it shows is adopted; without one, `ifAbsent` comes next. */
export interface Confirm {
  kind: 'confirm';
  /** One search, or all searches of a whole confirmation window. */
  searches: 'one' | 'window';
  /** Whether only a history that has proven readable counts. */
  proven: boolean;
  ifAbsent: Exclude<NextStep, Confirm>;
}

interface Situation {
  /** An earlier request of this purchase may have reached the partner. */
  mayHaveArrived: boolean;
  replace: 'never' | 'answered' | 'always';
}

const ATTEMPT = { kind: 'attempt' } as const;
const HOLD = { kind: 'hold' } as const;
const REJECTED = { kind: 'end', outcome: 'REJECTED' } as const;

/** The whole table: what follows from the evidence of one attempt. */
export function stepAfter(evidence: Unplaced, { mayHaveArrived, replace }: Situation): NextStep {
  switch (evidence) {
    case 'NOT_SENT':
    case 'PAUSED':
      return ATTEMPT;
    case 'OVER_MAX_DEBIT':
      return { kind: 'end', outcome: 'NOT_PLACED' };
    case 'ACCESS_REFUSED':
      return { kind: 'confirm', searches: 'one', proven: false, ifAbsent: ATTEMPT };
    case 'ORDER_REFUSED':
      // An order of an earlier request may be why there is no balance or no stock for a second one.
      if (mayHaveArrived) return unknown(replace === 'always');
      return { kind: 'confirm', searches: 'one', proven: false, ifAbsent: REJECTED };
    case 'CONFLICT':
      return { kind: 'confirm', searches: 'window', proven: true, ifAbsent: mayHaveArrived ? HOLD : REJECTED };
    case 'ANSWERED':
      return unknown(replace !== 'never');
    case 'UNKNOWN':
      return unknown(replace === 'always');
    case 'FENCED':
      return unknown(false);
    case 'NEVER_WRITTEN':
      // Nothing was written, so nothing has to be proven absent; a restored older database may have lost the record.
      return { kind: 'confirm', searches: 'window', proven: false, ifAbsent: replace === 'never' ? HOLD : ATTEMPT };
  }
}

function unknown(mayPlaceAgain: boolean): Confirm {
  return { kind: 'confirm', searches: 'window', proven: true, ifAbsent: mayPlaceAgain ? ATTEMPT : HOLD };
}

/** Whether the partner may have an order after such an answer, even if the history showed none later. */
export function mayHaveBought(evidence: PlacementEvidence): boolean {
  return ['ANSWERED', 'UNKNOWN', 'CONFLICT', 'FENCED'].includes(evidence);
}

/**
 * Chooses the order to adopt if the order history shows one or several for a reference: the oldest billable one, otherwise the
 * oldest. The other billable ones are double purchases.
 */
export function chooseOrder<T extends { status: string; createdAt: string }>(
  found: readonly [T, ...T[]],
): { adopt: T; doubles: T[] } {
  const byAge = found.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const billable = byAge.filter(isBillable);
  const adopt = billable[0] ?? byAge[0] ?? found[0];
  return { adopt, doubles: billable.filter((order) => order !== adopt) };
}
