import type { OutcomeDetails } from './purchase-record';

/** What placing comes to: an order, or an outcome without one. */
export type Placement = PlacedOrder | EndedPlacement;

export interface EndedPlacement {
  kind: 'ended';
  outcome: OutcomeDetails;
}

export interface PlacedOrder {
  kind: 'order';
  orderId: string;
  /** Found in the history or named by an operator, not answered to our own request. */
  adopted: boolean;
  /** Epoch ms: when the partner answered our own request; absent where that is not on record. */
  placedAt?: number;
}

/** What one attempt led to: an end, or another attempt. */
export type PlacementStep = Placement | Retry;

export interface Retry {
  kind: 'retry';
  why: string;
  /** The pace that the partner asked for. */
  retryAfterMs?: number;
  /** It lacked only a slot under `PARTNER_MAX_RPS`: about when one may come. */
  turnInMs?: number;
  /** It was settled after a pause that the partner had asked for. */
  waited?: boolean;
  /** The run in which it was settled that another request is allowed. */
  settledInRun?: string;
  /** The brake is closed: it waits to be woken. */
  paused?: boolean;
  /** There is no other attempt: what was surely not sent stays so. */
  final?: boolean;
  /** An operator decided: `PURCHASE_PLACE_WITHIN` begins anew. */
  decided?: boolean;
  /** The explanation that the operator had read. */
  decidedDespite?: string;
}

/** A placement that surely sent nothing: its worker died, or never got it, and had not recorded that it would write. */
export interface NeverWritten {
  evidence: 'NEVER_WRITTEN';
  why: string;
}

export function ended(outcome: OutcomeDetails['outcome'], reason: string): EndedPlacement {
  return { kind: 'ended', outcome: { outcome, lines: [], reason } };
}
