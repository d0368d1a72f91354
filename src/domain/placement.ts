import { isBillable } from './order';

/**
 * What one place-order request shows. The partner documents neither idempotency nor an error format, so most responses
 * don't show whether an order exists. `partner/errors.ts` maps responses to evidence.
 */
export type RequestEvidence =
  /** The request never left this process. Sending it again is safe. */
  | 'NOT_SENT'
  /** The partner accepted the order and returned its id. */
  | 'PLACED'
  /** The partner rejected this order. */
  | 'ORDER_REJECTED'
  /** The partner denied access, whatever the order: a rotated API key or a wrong prefix. */
  | 'ACCESS_DENIED'
  /** The partner returned 409, so it may already have the order. */
  | 'CONFLICT'
  /** The partner responded with an error that does not show whether an order exists. */
  | 'ERROR_RESPONSE'
  /** There was no response, or it was incomplete or unreadable. */
  | 'UNKNOWN';

/** What one placement attempt shows. Except for the evidence of its request, the attempt sent nothing. */
export type AttemptEvidence =
  | RequestEvidence
  /** The search before the request found an order. */
  | 'FOUND'
  /** The order may cost more than `maxDebit`. */
  | 'OVER_MAX_DEBIT'
  /** The circuit breaker is open. */
  | 'PAUSED'
  /** An earlier attempt, run or execution may have sent a request. */
  | 'FENCED'
  /** The worker stopped before it recorded its intention to send. */
  | 'NEVER_WRITTEN';

/** The evidence of an attempt that ended without a known order. */
export type EvidenceWithoutOrder = Exclude<AttemptEvidence, 'PLACED' | 'FOUND'>;

/** The next step of a purchase that has no order yet. */
export type Consequence =
  /** Attempt to place the order again. */
  | { kind: 'attempt' }
  /** End the purchase without an order. */
  | { kind: 'end'; outcome: 'NOT_PLACED' | 'REJECTED' }
  /** Hold the purchase until an operator decides. */
  | { kind: 'hold' }
  | Confirm;

/** Search the order history. If an order is found, it is adopted; if not, `ifAbsent` follows. */
export interface Confirm {
  kind: 'confirm';
  /** One search, or all searches of a confirmation window. */
  searches: 'one' | 'window';
  /** Whether an order counts as absent only if the history proved readable. */
  needsProof: boolean;
  ifAbsent: Exclude<Consequence, Confirm>;
}

interface Situation {
  /** An earlier request of this purchase may have created an order. */
  orderMayExist: boolean;
  replace: 'never' | 'answered' | 'always';
}

const ATTEMPT = { kind: 'attempt' } as const;
const HOLD = { kind: 'hold' } as const;
const REJECTED = { kind: 'end', outcome: 'REJECTED' } as const;

/** What follows from the evidence of one attempt. Source: docs/architecture.md#failure-model. */
export function consequenceOf(evidence: EvidenceWithoutOrder, { orderMayExist, replace }: Situation): Consequence {
  switch (evidence) {
    case 'NOT_SENT':
    case 'PAUSED':
      return ATTEMPT;
    case 'OVER_MAX_DEBIT':
      return { kind: 'end', outcome: 'NOT_PLACED' };
    case 'ACCESS_DENIED':
      return { kind: 'confirm', searches: 'one', needsProof: false, ifAbsent: ATTEMPT };
    case 'ORDER_REJECTED':
      // An earlier request may have placed the order, and so used up the balance or the stock.
      if (orderMayExist) return confirmUnknown(replace === 'always');
      return { kind: 'confirm', searches: 'one', needsProof: false, ifAbsent: REJECTED };
    case 'CONFLICT':
      return { kind: 'confirm', searches: 'window', needsProof: true, ifAbsent: orderMayExist ? HOLD : REJECTED };
    case 'ERROR_RESPONSE':
      return confirmUnknown(replace !== 'never');
    case 'UNKNOWN':
      return confirmUnknown(replace === 'always');
    case 'FENCED':
      return confirmUnknown(false);
    case 'NEVER_WRITTEN':
      // Nothing was sent, so no proof is needed. The search covers a restored older database that lacks the record.
      return { kind: 'confirm', searches: 'window', needsProof: false, ifAbsent: replace === 'never' ? HOLD : ATTEMPT };
  }
}

function confirmUnknown(mayPlaceAgain: boolean): Confirm {
  return { kind: 'confirm', searches: 'window', needsProof: true, ifAbsent: mayPlaceAgain ? ATTEMPT : HOLD };
}

/** Whether an attempt with this evidence, or an earlier one, may have sent a request, even a rejected one. */
export function mayHaveSentRequest(evidence: AttemptEvidence): boolean {
  return !['NOT_SENT', 'PAUSED', 'OVER_MAX_DEBIT', 'NEVER_WRITTEN'].includes(evidence);
}

/** Whether an attempt with this evidence may have created an order, even if a later search shows none. */
export function orderMayExist(evidence: AttemptEvidence): boolean {
  return ['ERROR_RESPONSE', 'UNKNOWN', 'CONFLICT', 'FENCED'].includes(evidence);
}

/**
 * Chooses the first billable order, or the first if none is billable. Other billable orders are double purchases.
 *
 * @param found the order that an earlier run recorded, then the others, oldest first.
 */
export function chooseOrder<T extends { status: string }>(found: readonly [T, ...T[]]): { adopt: T; doubles: T[] } {
  const billable = found.filter(isBillable);
  const adopt = billable[0] ?? found[0];
  return { adopt, doubles: billable.filter((order) => order !== adopt) };
}
