import { isShareOf, sameAmount } from '../money';
import { PURCHASE_OUTCOMES } from '../outcome';
import {
  type PartnerOrder,
  type ReconcileOptions,
  type KnownPurchase,
  type Repair,
  type StatusClass,
  statusClassOf,
} from './records';
import type { FindingKind } from './finding-kinds';

/** What a purchase and its order together are. One cause gives one classification. */
export interface Classification {
  kind: FindingKind;
  repair?: Repair;
  /** Where the kind's own advice does not fit. */
  advice?: string;
}

/** `fine`, or the amounts decide, or the age of the open order does. */
type Rule = Classification | 'fine' | 'amounts' | 'age';

const late: Classification = { kind: 'LATE', repair: 'deliver-late' };
const lost: Classification = { kind: 'LOST', repair: 'deliver-late' };
const mismatch: Classification = { kind: 'STATUS_MISMATCH' };
const tellRefund: Classification = {
  kind: 'STATUS_MISMATCH',
  repair: 'notify-refund',
  advice: 'Nothing came and the money is back: give the customer back the money, or sell again under a new reference.',
};
const tellFailure: Classification = {
  kind: 'STATUS_MISMATCH',
  repair: 'notify-attention',
  advice:
    'Nothing comes and nothing was charged: give the customer back the money, or sell again under a new reference.',
};
const boughtAfterAll: Classification = {
  kind: 'STATUS_MISMATCH',
  repair: 'notify-attention',
  advice: 'The checkout was told that this sale came to nothing. Ask the partner to cancel the order and to refund it.',
};
const paidAfterAll: Classification = { ...boughtAfterAll, kind: 'UNDELIVERED' };

const CAME_TO_NOTHING: Record<StatusClass, Rule> = {
  complete: paidAfterAll,
  partial: paidAfterAll,
  refunded: 'fine',
  failed: 'fine',
  open: boughtAfterAll,
};

/** How a purchase ended here against how its order stands there. `STOPPED`: it did not end by itself. */
const RULES: Record<(typeof PURCHASE_OUTCOMES)[number] | 'STOPPED' | 'UNKNOWN', Record<StatusClass, Rule>> = {
  DELIVERED: {
    complete: 'amounts',
    partial: mismatch,
    refunded: { kind: 'REFUNDED_AFTER_DELIVERY', repair: 'notify-refund' },
    failed: mismatch,
    open: mismatch,
  },
  PARTIALLY_DELIVERED: {
    complete: { kind: 'SHORTFALL_FILLED', repair: 'deliver-late' },
    partial: 'amounts',
    refunded: { kind: 'SHORTFALL_REFUNDED', repair: 'notify-refund' },
    failed: mismatch,
    open: mismatch,
  },
  REFUNDED: {
    complete: boughtAfterAll,
    partial: boughtAfterAll,
    refunded: 'fine',
    failed: mismatch,
    open: mismatch,
  },
  FAILED: {
    complete: boughtAfterAll,
    partial: boughtAfterAll,
    refunded: mismatch,
    failed: 'amounts',
    open: mismatch,
  },
  OVERDUE: { complete: late, partial: late, refunded: tellRefund, failed: tellFailure, open: 'age' },
  REJECTED: CAME_TO_NOTHING,
  NOT_PLACED: CAME_TO_NOTHING,
  CANCELLED: CAME_TO_NOTHING,
  ABANDONED: {
    complete: { kind: 'UNDELIVERED' },
    partial: { kind: 'UNDELIVERED' },
    refunded: 'fine',
    failed: 'fine',
    open: 'age',
  },
  STOPPED: { complete: lost, partial: lost, refunded: tellRefund, failed: tellFailure, open: { kind: 'LOST' } },
  UNKNOWN: { complete: mismatch, partial: mismatch, refunded: mismatch, failed: mismatch, open: mismatch },
};

/** Judges a purchase that is over, together with its order. */
export function classifyEnded(
  purchase: KnownPurchase,
  order: PartnerOrder,
  options: ReconcileOptions,
): Classification | undefined {
  const standing = statusClassOf(order.status);
  // The history was read before such a purchase ended: it shows what the order was then.
  if (standing === 'open' && (purchase.closedAt ?? 0) >= options.settledBefore) return undefined;

  const cell = RULES[endOf(purchase)][standing];
  if (cell === 'fine') return undefined;
  if (cell === 'amounts') return classifyAmounts(purchase, order);
  if (cell === 'age') return isOlderThan(options, order.createdAt) ? { kind: 'STUCK' } : undefined;
  if (cell.kind === 'SHORTFALL_FILLED' && purchase.lastSeen === 'COMPLETED') return KEYS_MISSING;
  return cell;
}

/** What a shortfall is when the order is complete and a look shows that the missing keys are not in it. */
export const KEYS_MISSING: Classification = {
  kind: 'UNDELIVERED',
  advice: 'The partner calls the order complete and keys are missing: claim them, or their price, from the partner.',
};

/**
 * Judges a purchase that is still running. It is left alone unless it waits for a person and its order explains why it need not,
 * or has waited for too long.
 */
export function classifyRunning(
  purchase: KnownPurchase,
  order: PartnerOrder | undefined,
  options: ReconcileOptions,
): Classification | undefined {
  const held = purchase.state === 'HELD' && order ? classifyHeld(purchase, order) : undefined;
  return held ?? (isOlderThan(options, purchase.startedAt) ? { kind: 'STUCK' } : undefined);
}

function classifyHeld(purchase: KnownPurchase, order: PartnerOrder): Classification | undefined {
  const standing = statusClassOf(order.status);
  const gone = standing === 'refunded' || standing === 'failed';
  if (purchase.orderId === undefined) {
    const mayAdopt = purchase.hold?.decisions.includes('order') ?? true;
    const classification: Classification = {
      kind: gone ? 'STATUS_MISMATCH' : 'LOST',
      advice: 'Tell the purchase of its order with `resolve REFERENCE --order ORDER`.',
    };
    return mayAdopt ? { ...classification, repair: 'adopt' } : classification;
  }
  if (standing === 'open') return undefined;
  const decisions = purchase.hold?.decisions.map((decision) => `\`--${decision}\``).join(' or ') ?? '';
  const advice = `It waits for a decision of yours: \`resolve REFERENCE\`${decisions === '' ? '' : ` with ${decisions}`}.`;
  return { kind: gone ? 'STATUS_MISMATCH' : 'UNDELIVERED', advice };
}

/** What late deliveries handed over counts as if the purchase had done it. */
function endOf({ delivered = 0, ordered, execution, state }: KnownPurchase): keyof typeof RULES {
  if (delivered > 0) return delivered >= (ordered ?? 0) ? 'DELIVERED' : 'PARTIALLY_DELIVERED';
  if (execution !== 'COMPLETED') return 'STOPPED';
  return PURCHASE_OUTCOMES.find((outcome) => outcome === state) ?? 'UNKNOWN';
}

function classifyAmounts(purchase: KnownPurchase, order: PartnerOrder): Classification | undefined {
  const { totalDebit, ordered, delivered, state } = purchase;
  if (totalDebit === undefined) return undefined;
  if (state === 'FAILED') return sameAmount(totalDebit, 0) ? undefined : { kind: 'AMOUNT_MISMATCH' };
  // The debit was seen as the purchase ended. What came later may have changed it.
  if (endOf(purchase) !== state) return undefined;
  if (order.amount === undefined || isForAPart(purchase, order) || sameAmount(totalDebit, order.amount))
    return undefined;
  const refunded =
    state === 'PARTIALLY_DELIVERED' &&
    order.amount < totalDebit &&
    ordered !== undefined &&
    delivered !== undefined &&
    isShareOf(totalDebit, order.amount, delivered, ordered);
  return refunded ? { kind: 'SHORTFALL_REFUNDED', repair: 'notify-refund' } : { kind: 'AMOUNT_MISMATCH' };
}

/** The history shows one item of an order; with several products that may be a part, and its amount proves nothing. */
function isForAPart({ ordered }: KnownPurchase, { quantity }: PartnerOrder): boolean {
  return ordered !== undefined && quantity !== undefined && ordered !== quantity;
}

function isOlderThan({ now, stuckAfterMs }: ReconcileOptions, instant: number): boolean {
  return now - instant > stuckAfterMs;
}
