import { isSameAmount, isShareOf } from '../money';
import { isFailedOrRefunded, mayHaveKeys } from '../order';
import { isKeylessOutcome, PURCHASE_OUTCOMES, type PurchaseOutcome } from '../purchase-state';
import { isDebitLowered, type KnownPurchase, type PartnerOrder, type ReconcileOptions } from './records';
import { type FindingKind, FINDING_KINDS, type Repair } from './finding';

/** What is wrong with a purchase and its order. */
export interface Classification {
  kind: FindingKind;
  /** Absent if only an operator can act on it. */
  repair?: Repair;
  /** Replaces the advice of the kind. */
  advice?: string;
}

const STUCK_AFTER_MS = 24 * 3_600_000;

const BOUGHT_AFTER_ALL =
  'The checkout was notified that nothing was bought. Ask the partner to cancel and refund the order.';
const FULFILLED_AFTER_ALL =
  'The checkout was notified that the order failed or was refunded, and may have refunded the customer. Ask the partner to cancel and refund the order.';
const WITHHELD =
  'Ask the partner for a refund. If keys were withheld, first check the checkout: some may have reached it without a confirmation.';
const ADOPT = 'Attach the order to the purchase with `npx fulfilment resolve REFERENCE --order ORDER`.';
const CHOOSE =
  'The earlier run may have delivered its order, so a reconciliation adopts none. Compare the orders, then decide with `npx fulfilment resolve REFERENCE`.';

/** Keys are missing: the order is only part of what was bought, or had no new key when it was read. */
export const KEYS_MISSING = {
  kind: 'SHORTFALL',
  advice: FINDING_KINDS.SHORTFALL.advice,
} as const satisfies Classification;

/** The classifications with a repair. All others are only reported. */
export const REPAIRABLE = {
  late: { kind: 'LATE', repair: 'deliver' },
  lost: { kind: 'LOST', repair: 'deliver' },
  shortfall: { ...KEYS_MISSING, repair: 'deliver' },
  shortfallFilled: { kind: 'SHORTFALL_FILLED', repair: 'deliver' },
  heldWithoutOrder: { kind: 'LOST', repair: 'adopt', advice: ADOPT },
  heldWithoutEndedOrder: { kind: 'STATUS_MISMATCH', repair: 'adopt', advice: ADOPT },
  refundedAfterDelivery: { kind: 'REFUNDED_AFTER_DELIVERY', repair: 'notify-refund' },
  shortfallRefunded: { kind: 'SHORTFALL_REFUNDED', repair: 'notify-refund' },
  restRefunded: { kind: 'SHORTFALL_REFUNDED', repair: 'deliver-or-notify' },
  debitLowered: {
    kind: 'SHORTFALL',
    repair: 'deliver-or-notify',
    advice:
      'The partner debits less than before. Compare the difference with the price of the missing keys, and claim whatever it did not refund. Refund the customer for what was not delivered.',
  },
  refundedUndelivered: {
    kind: 'STATUS_MISMATCH',
    repair: 'notify-refund',
    advice:
      'Nothing was delivered, and the order was refunded. Refund the customer, or sell again under a new reference.',
  },
  failedUndelivered: {
    kind: 'STATUS_MISMATCH',
    repair: 'notify',
    advice: 'The order failed and costs nothing. Refund the customer, or sell again under a new reference.',
  },
  boughtAfterAll: { kind: 'STATUS_MISMATCH', repair: 'notify', advice: BOUGHT_AFTER_ALL },
  fulfilledAfterAll: { kind: 'STATUS_MISMATCH', repair: 'notify', advice: FULFILLED_AFTER_ALL },
  completeAfterAll: { kind: 'UNDELIVERED', repair: 'notify', advice: BOUGHT_AFTER_ALL },
  keysGone: { kind: 'KEYS_GONE', repair: 'notify' },
  doublePurchase: { kind: 'DOUBLE_PURCHASE', repair: 'notify' },
} as const satisfies Record<string, Classification>;

/** The advice if it is unknown whether keys were delivered. */
export const MAY_BE_DELIVERED =
  'Keys may have reached the checkout without a confirmation. Check there before you refund the customer or sell again.';

/** The advice if a delivery is not possible for the reason in the note. */
export const NOT_DELIVERED =
  'Neither a reconciliation nor `npx fulfilment redeliver` delivers anything while this lasts. Ask the partner to correct it. If no customer has the keys, you can ask for a refund instead.';

const ENDED = ['COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED'] as const;

/** `OPEN` is any other status, including undocumented ones. */
type OrderState = (typeof ENDED)[number] | 'OPEN';

/** A classification, `fine`, or what must be checked first: the amounts, a partial refund, or the order's age. */
type Rule = Classification | 'fine' | 'compare-amounts' | 'check-refund' | 'check-age';

const mismatch: Classification = { kind: 'STATUS_MISMATCH' };
const undelivered: Classification = { kind: 'UNDELIVERED', advice: WITHHELD };
const stuck: Classification = { kind: 'STUCK' };
const lostButOpen: Classification = { kind: 'LOST' };
const amountMismatch: Classification = { kind: 'AMOUNT_MISMATCH' };
const { late, lost, refundedUndelivered, failedUndelivered, boughtAfterAll, completeAfterAll, fulfilledAfterAll } =
  REPAIRABLE;

const CONTRADICTION: Record<OrderState, Rule> = {
  COMPLETED: mismatch,
  PARTIAL_COMPLETED: mismatch,
  REFUNDED: mismatch,
  FAILED: mismatch,
  OPEN: mismatch,
};

const NOT_FULFILLED = { ...CONTRADICTION, COMPLETED: fulfilledAfterAll, PARTIAL_COMPLETED: fulfilledAfterAll };

const NOTHING_BOUGHT: Record<OrderState, Rule> = {
  COMPLETED: completeAfterAll,
  PARTIAL_COMPLETED: completeAfterAll,
  REFUNDED: 'fine',
  FAILED: 'fine',
  OPEN: boughtAfterAll,
};

/**
 * The rule for each outcome of a purchase and each status of its order at the partner. `STOPPED`: the workflow was
 * terminated, failed, timed out or ended as cancelled.
 */
const RULES: Record<PurchaseOutcome | 'STOPPED' | 'UNKNOWN', Record<OrderState, Rule>> = {
  DELIVERED: { ...CONTRADICTION, COMPLETED: 'compare-amounts', REFUNDED: REPAIRABLE.refundedAfterDelivery },
  PARTIALLY_DELIVERED: {
    ...CONTRADICTION,
    COMPLETED: 'check-refund',
    PARTIAL_COMPLETED: 'check-refund',
    REFUNDED: REPAIRABLE.shortfallRefunded,
  },
  REFUNDED: { ...NOT_FULFILLED, REFUNDED: 'fine' },
  FAILED: { ...NOT_FULFILLED, FAILED: 'compare-amounts' },
  OVERDUE: {
    COMPLETED: late,
    PARTIAL_COMPLETED: late,
    REFUNDED: refundedUndelivered,
    FAILED: failedUndelivered,
    OPEN: 'check-age',
  },
  REJECTED: NOTHING_BOUGHT,
  NOT_PLACED: NOTHING_BOUGHT,
  CANCELLED: NOTHING_BOUGHT,
  ABANDONED: { ...NOTHING_BOUGHT, COMPLETED: undelivered, PARTIAL_COMPLETED: undelivered, OPEN: 'check-age' },
  STOPPED: {
    COMPLETED: lost,
    PARTIAL_COMPLETED: lost,
    REFUNDED: refundedUndelivered,
    FAILED: failedUndelivered,
    OPEN: lostButOpen,
  },
  UNKNOWN: CONTRADICTION,
};

/** Classifies a purchase that has ended and its order. */
export function classifyEnded(
  purchase: KnownPurchase,
  order: PartnerOrder,
  options: ReconcileOptions,
): Classification | undefined {
  const orderState = orderStateOf(order);
  // The order history was read before this purchase ended, so its status may be out of date.
  if (orderState === 'OPEN' && (purchase.closedAt ?? 0) >= options.recentSince) return undefined;

  const ending = endingOf(purchase, order);
  const rule = RULES[ending][orderState];
  if (rule === 'fine') return undefined;
  if (rule === 'compare-amounts') return classifyAmounts(purchase, order);
  if (rule === 'check-age') return isStuck(order.createdAt, options) ? stuck : undefined;
  if (rule === 'check-refund') return classifyShortfall(purchase, order);
  const isUndelivered = rule === refundedUndelivered || rule === failedUndelivered;
  const keysMayHaveArrived = purchase.keysMayHaveArrived || ending === 'STOPPED';
  return isUndelivered && keysMayHaveArrived ? { ...rule, advice: MAY_BE_DELIVERED } : rule;
}

/**
 * Classifies a running purchase. It is a finding only if it is held and the state of its order suggests a decision, or
 * if it has been running for too long.
 */
export function classifyRunning(
  purchase: KnownPurchase,
  order: PartnerOrder | undefined,
  options: ReconcileOptions,
): Classification | undefined {
  const held = purchase.state === 'HELD' && order ? classifyHeld(purchase, order) : undefined;
  return held ?? (isStuck(purchase.startedAt, options) ? stuck : undefined);
}

function classifyHeld(
  { orderId, earlierOrderId, hold }: KnownPurchase,
  order: PartnerOrder,
): Classification | undefined {
  const ended = isFailedOrRefunded(order.status);
  if (orderId === undefined) {
    const classification = ended ? REPAIRABLE.heldWithoutEndedOrder : REPAIRABLE.heldWithoutOrder;
    // The earlier run may also have been reset because its order was the wrong one.
    if (earlierOrderId !== undefined) return { ...classification, repair: undefined, advice: CHOOSE };
    const mayAdopt = hold?.decisions.includes('order') ?? true;
    return mayAdopt ? classification : { ...classification, repair: undefined };
  }
  if (orderStateOf(order) === 'OPEN') return undefined;
  const decisions = (hold?.decisions ?? []).map((decision) => `\`--${decision}\``);
  const possible = decisions.length === 0 ? '' : ` with ${decisions.join(' or ')}`;
  const advice = `The purchase is waiting for a decision: \`npx fulfilment resolve REFERENCE\`${possible}.`;
  return { kind: ended ? 'STATUS_MISMATCH' : 'UNDELIVERED', advice };
}

/** Classifies an order that still has keys, but no longer contains some of the delivered ones. */
export function classifyKeys({ goneKeyIds = [], status }: PartnerOrder): Classification | undefined {
  return mayHaveKeys(status) && goneKeyIds.length > 0 ? REPAIRABLE.keysGone : undefined;
}

/**
 * How a purchase ended. Keys from late deliveries and earlier runs count as delivered by it, unless its outcome rules
 * out any further delivery (`planDelivery`). After a reset, a purchase with delivered keys may end as REFUNDED or FAILED.
 */
function endingOf(
  { delivered = 0, ordered = 0, workflowStatus, state, refundReceived }: KnownPurchase,
  { status }: PartnerOrder,
): keyof typeof RULES {
  if (refundReceived && mayHaveKeys(status)) return 'REFUNDED';
  const isCompleted = workflowStatus === 'COMPLETED';
  // The checkout was notified of another status than the order has now, whatever was delivered.
  if (isCompleted && isFailedOrRefunded(state) && status !== state) return state;
  if (delivered > 0 && delivered >= ordered) return 'DELIVERED';
  const isFinal = isCompleted && isKeylessOutcome(state) && !isFailedOrRefunded(state);
  if (delivered > 0 && !isFinal) return 'PARTIALLY_DELIVERED';
  if (!isCompleted) return 'STOPPED';
  return PURCHASE_OUTCOMES.find((outcome) => outcome === state) ?? 'UNKNOWN';
}

function classifyAmounts(purchase: KnownPurchase, order: PartnerOrder): Classification | undefined {
  const { totalDebit, state } = purchase;
  if (totalDebit === undefined) return undefined;
  const debitNow = order.totalDebit ?? totalDebit;
  if (state === 'FAILED') return isSameAmount(debitNow, 0) ? undefined : amountMismatch;
  // The debit was read when the purchase ended, and may have changed before a late delivery.
  if (endingOf(purchase, order) !== state) return undefined;
  return isSameAmount(totalDebit, debitNow) && isConsistentWithRow(totalDebit, purchase, order)
    ? undefined
    : amountMismatch;
}

/** Whether the row's amount is the debit or the price of one piece. The partner does not document which. */
function isConsistentWithRow(debit: number, purchase: KnownPurchase, order: PartnerOrder): boolean {
  const { ordered = 1 } = purchase;
  if (order.amount === undefined || mayCoverPart(purchase, order)) return true;
  return isSameAmount(debit, order.amount) || (ordered > 1 && isShareOf(debit, order.amount, 1, ordered));
}

/**
 * Classifies a partial delivery. A lower debit means a partial refund. It shows that all missing keys were refunded
 * only if all keys cost the same.
 */
function classifyShortfall(purchase: KnownPurchase, order: PartnerOrder): Classification {
  if (isRestRefunded(purchase, order)) return REPAIRABLE.restRefunded;
  if (isDebitLowered(purchase, order)) return REPAIRABLE.debitLowered;
  return order.status === 'COMPLETED' ? REPAIRABLE.shortfallFilled : REPAIRABLE.shortfall;
}

/** Whether the partner now charges less than before, and exactly the price of the delivered keys. */
function isRestRefunded(purchase: KnownPurchase, order: PartnerOrder): boolean {
  const { totalDebit, ordered, delivered } = purchase;
  if (totalDebit === undefined || ordered === undefined || delivered === undefined) return false;
  // The row's amount is only a hint, because it may be the price of one piece.
  const charged = order.totalDebit ?? (mayCoverPart(purchase, order) ? undefined : order.amount);
  return charged !== undefined && charged < totalDebit && isShareOf(totalDebit, charged, delivered, ordered);
}

/** Whether the row's amount may cover only part of the order: the history shows one item per order. */
function mayCoverPart({ ordered }: KnownPurchase, { quantity }: PartnerOrder): boolean {
  return ordered !== undefined && quantity !== undefined && ordered !== quantity;
}

/** @param since epoch ms */
export function isStuck(since: number, { now }: ReconcileOptions): boolean {
  return now - since > STUCK_AFTER_MS;
}

function orderStateOf({ status }: PartnerOrder): OrderState {
  return ENDED.find((ending) => ending === status) ?? 'OPEN';
}
