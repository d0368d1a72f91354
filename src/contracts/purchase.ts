import type { Accepted } from '../domain/accepted';
import type { PurchaseItem } from '../domain/order';
import type { PurchaseOutcome } from '../domain/outcome';
import type { PurchaseState } from '../domain/purchase-state';

export type { PurchaseItem, PurchaseState };

/** The one argument of `purchaseWorkflow`. A product may stand in `items` only once. */
export interface PurchaseInput {
  referenceId: string;
  items: PurchaseItem[];
  /** The most that it may cost, by the prices of the catalogue; without it the catalogue is not asked. */
  maxDebit?: number;
}

/** What became of one product of a purchase: `delivered` counts the keys that were handed over. */
export interface PurchaseLine {
  productId: string;
  title?: string;
  quantity: number;
  delivered: number;
}

/** How a purchase ended. `totalDebit` is the partner's number as it came; its currency is the account's. */
export interface PurchaseResult {
  referenceId: string;
  outcome: PurchaseOutcome;
  orderId?: string;
  lines: PurchaseLine[];
  totalDebit?: number;
  /** Someone asked to cancel when an order could already exist, so it was seen through. */
  cancelRequested?: boolean;
  /** In words, where the outcome alone doesn't say it. */
  reason?: string;
}

/** An event that the checkout has received. */
export interface ReceivedEvent {
  id: string;
  type: string;
  /** ISO 8601: when it happened. */
  at: string;
}

/** What a list of purchases shows without opening each; the closing memo of `purchaseWorkflow`. */
export interface PurchaseMemo {
  totalDebit?: number;
  /** How many keys were bought; of an order whose items an operator has accepted, how many it is to bring. */
  ordered?: number;
  delivered?: number;
  /** Keyed fingerprints of the keys handed over, by product. Never the keys. */
  fingerprints?: Record<string, string[]>;
  events?: ReceivedEvent[];
  /** How it ended, in words, where the outcome alone doesn't say it. */
  reason?: string;
  /** While the order history is read for it: epoch ms, its order is no older. */
  watchedSince?: number;
  /** The hold that waits for an operator, or null when there is none. */
  hold?: HoldNotice | null;
  /** What operators have accepted. Keys that come after the end are handed over on the ground of it. */
  accepted?: AcceptedOrder;
}

/** What operators have accepted of one order: its items, its owner, surplus keys. */
export interface AcceptedOrder extends Accepted {
  orderId: string;
}

/** What a list of deliveries shows: the memo of `deliverWorkflow`. */
export interface DeliveryMemo {
  /** The run of the reconciliation that started it. */
  reconciledBy?: string;
  /** Without keys: the `findingKey` of the finding that the checkout was notified of. */
  notifiedOf?: string;
  /** What the checkout has received. */
  events?: ReceivedEvent[];
  /** With keys: the fingerprints of all keys that the checkout has of the purchase now, by product. */
  fingerprints?: Record<string, string[]>;
  ordered?: number;
  orderId?: string;
}

/** Why a purchase waits for an operator. */
export const HOLD_REASONS = [
  'PLACEMENT_UNKNOWN',
  'OTHER_ITEMS',
  'ORDER_OF_ANOTHER_PURCHASE',
  'MORE_KEYS_THAN_ORDERED',
  'KEY_GONE',
  'DELIVERY_REFUSED',
  'DELIVERY_EXHAUSTED',
] as const;

export type HoldReason = (typeof HOLD_REASONS)[number];

/** What an operator may decide on a held purchase. */
export const DECISION_KINDS = ['order', 'replace', 'abandon', 'deliver', 'withhold'] as const;

export type DecisionKind = (typeof DECISION_KINDS)[number];

/** What is shown of a hold. `id` names this hold and no other, also after a reset of the workflow. */
export interface HoldNotice {
  id: string;
  reason: HoldReason;
  explanation: string;
  decisions: DecisionKind[];
  /** ISO 8601: when it was opened. */
  since: string;
  /** A cancel request ends it, after one more search of the order history: surely nothing was bought. */
  endsOnCancel?: boolean;
}

/** What an operator decides. `order` names the partner's order that this purchase is to adopt. */
export type DecisionChoice = { decision: 'order'; orderId: string } | { decision: Exclude<DecisionKind, 'order'> };

/** The argument of the `resolve` update. `hold` is the id of the hold that is answered. */
export type Decision = DecisionChoice & { hold: string };

/**
 * What a running purchase needs of the worker's settings, in milliseconds. It reaches the workflow as a recorded
 * result, so a purchase keeps the settings it began with.
 */
export interface PurchaseSettings {
  placeWithinMs: number;
  firstPollMs: number;
  pollIntervalMs: number;
  /** Whether each open order is polled for itself, or the order history is read for all of them. */
  watch: 'orders' | 'history';
  deadlineMs: number;
  confirmWindowMs: number;
  replace: 'never' | 'answered' | 'always';
  partnerTimeoutMs: number;
  deliveryTimeoutMs: number;
}

/**
 * When the first poll of an order is due, ISO 8601. What it finds happened then: unlike the time of a workflow task, which may be
 * repeated, this follows from what is on record.
 *
 * @param placedAt epoch ms.
 */
export function firstPollAt(placedAt: number, { firstPollMs }: Pick<PurchaseSettings, 'firstPollMs'>): string {
  return new Date(placedAt + firstPollMs).toISOString();
}
