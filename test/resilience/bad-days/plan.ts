import type { PurchaseSettings } from '../../../src/contracts/purchase';
import type { Fault, Settings } from '../../../sandbox';
import type { Answer } from '../../support/receiver';

/**
 * A bad day as plain JSON: everything that happens in one test environment. It follows from its seed alone. Events
 * refer to purchases by name, so both can be left out.
 */
export interface Plan {
  seed: number;
  settings: PurchaseSettings;
  /** `PARTNER_MAX_RPS` of each worker. */
  maxRps?: number;
  /** Worker processes in the morning. */
  workers: number;
  partner: PartnerPlan;
  purchases: PlannedPurchase[];
  /** In the order of their times. */
  events: PlannedEvent[];
}

export interface PartnerPlan {
  settings: Partial<Settings>;
  /** Orders of earlier days. */
  pastOrders: number;
  /** Why a second order can't be prevented in this environment, if there is such a reason. */
  beyond?: string;
}

export interface PlannedPurchase {
  name: string;
  /** Measured from the morning. */
  atMs: number;
  items: Record<string, number>;
  /** The partner's faults for calls with the reference of this purchase. */
  faults: Omit<Fault, 'referenceId'>[];
  /** The checkout's responses to its events, each once; then 204. */
  answers: JsonResponse[];
  /** Why a second order of this purchase can't be prevented, if there is such a reason. */
  beyond?: string;
}

/** A response that JSON can hold. */
export type JsonResponse = Extract<Answer, string | number>;

/** When an event happens: at a time of its part of the day, or this long after the first such call for a purchase. */
export type Moment = { atMs: number } | { after: 'search' | 'place' | 'delivery'; of: string; ms: number };

export interface PlannedEvent {
  /** By day purchases run and fail; in the evening all of them have ended or are held. */
  part: 'day' | 'evening';
  at: Moment;
  what: Happening;
}

/** The number of a running worker, modulo their count. */
export type Happening =
  | { type: 'kill' | 'stop'; worker: number; anotherAfterMs: number }
  | { type: 'freeze'; worker: number; ms: number }
  | { type: 'restart server'; awayMs: number }
  | { type: 'partner fault'; fault: Fault }
  | { type: 'order grows'; of: string; keys: number; status: 'PARTIAL_COMPLETED' | 'COMPLETED' }
  | { type: 'order refunded'; of: string }
  /** From now on, also at night, its row in the history or the response for its keys is this. */
  | { type: 'order row breaks'; of: string; row: Record<string, unknown> }
  | { type: 'order breaks'; of: string; action: Fault['action'] }
  | { type: 'reconcile'; dryRun?: boolean }
  | OperatorHappening;

/** An operator's command for one purchase. */
export type OperatorHappening =
  /** To the workflow task at this share of the history. */
  | { type: 'reset'; of: string; share: number }
  | { type: 'pause activity' | 'reset activity'; of: string; activity: string; ms: number }
  | { type: 'cancel' | 'terminate' | 'redeliver'; of: string }
  /** Waits this long for a hold. */
  | { type: 'resolve'; of: string; how: Resolving; withinMs: number };

/** `right`: what a careful operator decides, who knows the partner's orders. The others are decided blindly. */
export type Resolving =
  'right' | 'the order of another' | 'an order that is not there' | 'replace' | 'abandon' | 'deliver' | 'withhold';
