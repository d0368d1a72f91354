import type { PurchaseSettings } from '../../../src/contracts/purchase';
import type { Fault, Settings } from '../../../sandbox';
import type { Answer } from '../../support/receiver';

/**
 * A bad day: everything that is to happen in one test environment, as plain JSON. It follows from its seed alone. Purchases
 * are named, and events name the purchases they are about, so that any of both can be left out.
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
  /** From the morning on. */
  atMs: number;
  items: Record<string, number>;
  /** What the partner does to the calls that bear its reference. */
  faults: Omit<Fault, 'referenceId'>[];
  /** What the checkout answers to its events, each once; then 204. */
  answers: JsonAnswer[];
  /** Why a second order of it can't be prevented, if there is such a reason. */
  beyond?: string;
}

/** An answer that JSON can hold. */
export type JsonAnswer = Extract<Answer, string | number>;

/** When an event happens: at a time of its part of the day, or so long after the first such call about a purchase. */
export type Moment = { atMs: number } | { after: 'search' | 'place' | 'delivery'; of: string; ms: number };

export interface PlannedEvent {
  /** By day purchases are made and go wrong; in the evening all of them have ended or are held. */
  part: 'day' | 'evening';
  at: Moment;
  what: Happening;
}

/** A worker is chosen by its number among those that run, counted round. */
export type Happening =
  | { type: 'kill' | 'stop'; worker: number; anotherAfterMs: number }
  | { type: 'freeze'; worker: number; ms: number }
  | { type: 'restart server'; awayMs: number }
  | { type: 'partner fault'; fault: Fault }
  | { type: 'order grows'; of: string; keys: number; status: 'PARTIAL_COMPLETED' | 'COMPLETED' }
  | { type: 'order refunded'; of: string }
  /** Its row in the history shows this from now on, or its keys are answered so: for ever, also at night. */
  | { type: 'order row breaks'; of: string; row: Record<string, unknown> }
  | { type: 'order breaks'; of: string; action: Fault['action'] }
  | { type: 'reconcile'; dryRun?: boolean }
  | OperatorHappening;

/** What an operator does to one purchase. */
export type OperatorHappening =
  /** To the workflow task at this share of the history. */
  | { type: 'reset'; of: string; share: number }
  | { type: 'pause activity' | 'reset activity'; of: string; activity: string; ms: number }
  | { type: 'cancel' | 'terminate' | 'redeliver'; of: string }
  /** Waits so long for a hold. */
  | { type: 'resolve'; of: string; how: Resolving; withinMs: number };

/** `right`: as a careful person would, with the partner's orders at hand. The others are decided without looking. */
export type Resolving =
  'right' | 'the order of another' | 'an order that is not there' | 'replace' | 'abandon' | 'deliver' | 'withhold';
