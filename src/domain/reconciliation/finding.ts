import { DOUBLE_PURCHASE_ADVICE } from '../double-purchase';

/**
 * The kinds of findings, most urgent first, as in a report. Reports show the title, the meaning, and what to do if the
 * finding was not repaired. `does` is what a reconciliation does about it, for the table in docs/operations.md.
 */
export const FINDING_KINDS = {
  DOUBLE_PURCHASE: {
    title: 'Bought twice',
    means: 'The partner has several orders for one sale. One is used; the others also cost money.',
    does: 'notifies the checkout',
    advice: DOUBLE_PURCHASE_ADVICE,
  },
  SAME_KEY_TWICE: {
    title: 'One key delivered twice',
    means: 'The partner delivered one key for several sales, or twice for one sale. It probably works only once.',
    does: 'reports it',
    advice: 'Ask the partner to replace every copy but one. Warn the customers before they try to use the key.',
  },
  LOST: {
    title: 'Stopped or held, but ordered at the partner',
    means: 'The purchase was stopped, failed, or is held without an order, but its order exists at the partner.',
    does: 'delivers the order when it is complete; a held purchase adopts it',
    advice: 'Find out who or what stopped the purchase. A reconciliation delivers the order when it is complete.',
  },
  LATE: {
    title: 'Keys arrived after the deadline',
    means: 'The purchase ended as overdue, and its order now has keys.',
    does: 'delivers them',
    advice: 'The next reconciliation delivers the keys. To deliver them now: `npx fulfilment redeliver REFERENCE`.',
  },
  UNDELIVERED: {
    title: 'Paid for, not delivered',
    means:
      'The order has keys, but the purchase is held, was abandoned, or ended as rejected, not placed or cancelled.',
    does: 'notifies the checkout if it was told that nothing was bought',
    advice: 'Decide whether the customer still wants the keys. If not, ask the partner for a refund.',
  },
  SHORTFALL: {
    title: 'Fewer keys than ordered',
    means: 'Keys are missing from the order, and its debit does not show that the partner refunded them.',
    does: 'delivers new keys; if there are none and the debit went down, notifies the checkout',
    advice: 'Ask the partner for the missing keys, or for their price if it has not refunded them.',
  },
  MISSING_AT_PARTNER: {
    title: 'Missing at the partner',
    means: 'A purchase has an order, but the partner shows it neither in the order history nor on its own.',
    does: 'reports it',
    advice:
      'Search for the order with `npx fulfilment orders --search ORDER`. If nothing is found, ask the partner what happened to it.',
  },
  UNREADABLE: {
    title: "Can't be read",
    means:
      "A row of the order history, an order, or the memo of a purchase can't be read, or the history lacks existing orders, or was not read far enough. All else was compared.",
    does: 'reports it',
    advice:
      'Ask the partner to correct its response. What is missing or unreadable may hide an order that nobody knows about.',
  },
  ORPHAN: {
    title: 'No purchase for this order',
    means: 'The partner has an order whose id and reference are unknown in this namespace.',
    does: 'reports it',
    advice:
      'Find out who placed it: a purchase with a similar reference, someone by hand, or another system with the same API key. If nobody did, replace the API key.',
  },
  REFUNDED_AFTER_DELIVERY: {
    title: 'Refunded after delivery',
    means: 'All keys were delivered. The partner refunded the order later, and the keys may no longer work.',
    does: 'sends `purchase.refunded`',
    advice: 'Ask the partner whether it revoked the keys. If it did, compensate the customer.',
  },
  KEYS_GONE: {
    title: 'Delivered keys disappeared from the order',
    means: 'Keys that were delivered are no longer in the order. They may no longer work.',
    does: 'notifies the checkout',
    advice: 'Ask the partner whether these keys still work. If they do not, compensate the customer.',
  },
  AMOUNT_MISMATCH: {
    title: 'Different amounts',
    means: 'The partner now shows a different amount from the one that it debited, or it debited a failed order.',
    does: 'reports it',
    advice: 'Compare both amounts with the agreed price, and claim the difference.',
  },
  STATUS_MISMATCH: {
    title: 'Outcome and status contradict each other',
    means: 'The state or outcome of the purchase contradicts the status of its order at the partner.',
    does: 'sends `purchase.refunded`, or notifies the checkout if it was told something wrong; a held purchase adopts the order',
    advice:
      'Compare `npx fulfilment status REFERENCE` with `npx fulfilment orders --search ORDER`, and ask the partner which is right.',
  },
  SHORTFALL_FILLED: {
    title: 'The missing keys arrived',
    means: 'Only some of the keys were delivered. The order is now complete.',
    does: 'delivers them; if there is no new key, the finding becomes a `SHORTFALL`',
    advice: 'The next reconciliation that is not a dry run delivers them. If keys are still missing, ask the partner.',
  },
  SHORTFALL_REFUNDED: {
    title: 'The missing keys were refunded',
    means: 'Only some of the keys were delivered. The partner has refunded the rest, or the whole order.',
    does: 'sends `purchase.refunded` if the whole order was refunded; if only the rest was, delivers any new keys, or else notifies the checkout',
    advice: 'Refund the customer for what was not delivered, if you have not done so yet.',
  },
  STUCK: {
    title: 'Stuck for more than a day',
    means:
      'The purchase has been running for more than a day, or it has ended and its order has been open for more than a day.',
    does: 'reports it',
    advice: 'Run `npx fulfilment status REFERENCE` to see what the purchase is waiting for.',
  },
} satisfies Record<string, { title: string; means: string; does: string; advice: string }>;

export type FindingKind = keyof typeof FINDING_KINDS;

export const FINDING_KIND_NAMES = Object.keys(FINDING_KINDS) as FindingKind[];

/** One difference between the partner's orders and the purchases in Temporal. */
export interface Finding {
  kind: FindingKind;
  referenceId?: string;
  workflowId?: string;
  /** The purchase's own order first, if it has one. */
  orderIds: string[];
  amounts: FindingAmounts;
  /** What is wrong, in one sentence that contains no key. */
  explanation: string;
  /** What an operator should do if the finding is not repaired. */
  advice: string;
  /** What the reconciliation may do about it by itself; absent if nothing. */
  repair?: Repair;
  /** The keys that disappeared, for `KEYS_GONE`. */
  keyIds?: string[];
}

/** Decimal numbers as the partner writes them. */
export interface FindingAmounts {
  /** `total_debit` of the order, as the purchase last read it. */
  debited?: number;
  /** `total_debit` of the first order as the reconciliation read it; absent if it read only the row. */
  debitedNow?: number;
  /** What the order history shows for the first order. */
  history?: number;
  /** The total that the order history shows for the other orders of a double purchase. */
  furtherOrders?: number;
}

/** What a reconciliation may do about a finding by itself. None of these places an order. */
export type Repair =
  /** Deliver the keys that the checkout does not have yet. */
  | 'deliver'
  /** The same, or `notify` if no key is new: the debit shows a refund, but the order may still contain another key. */
  | 'deliver-or-notify'
  /** Notify the checkout of the refund. */
  | 'notify-refund'
  /** Decide the purchase's hold: it adopts this order. */
  | 'adopt'
  /** Notify the checkout that an operator must act. */
  | 'notify';

/** Whether the repair reads the purchase and its order, even in a dry run. */
export function hasSaleRepair({ repair }: Finding): boolean {
  return repair === 'deliver' || repair === 'deliver-or-notify' || repair === 'notify-refund';
}

/**
 * What was done about a finding. `repaired`: everything possible. `notified`: the checkout was notified, and an
 * operator must act. `unrepaired`: an operator must act; the note says why, and whether a delivery was started again.
 * `dry-run`: nothing, because it was a dry run.
 */
export type FindingStatus = 'repaired' | 'notified' | 'unrepaired' | 'dry-run';

/** A finding with its status. `note`: what was done, or why not, in one sentence without a key. */
export type ReportedFinding = Finding & { done: FindingStatus; note?: string };

/**
 * Adds to a finding what was done about it. It modifies the finding, because a hundred thousand copies would take too
 * much memory.
 */
export function withStatus(finding: Finding, done: FindingStatus, note?: string): ReportedFinding {
  return Object.assign(finding, { done, note });
}

/** The kinds that are not about a purchase together with its own order. */
const NOT_ABOUT_OWN_ORDER: readonly FindingKind[] = [
  'DOUBLE_PURCHASE',
  'SAME_KEY_TWICE',
  'UNREADABLE',
  'ORPHAN',
  'KEYS_GONE',
];

/** The most order ids in the key of a finding. */
const MAX_IDS_IN_KEY = 10;

/**
 * Identifies a finding. Every reconciliation gives the same finding the same key; another cause gives another key. If
 * there are many orders, the key contains the first ids and the number of the others.
 */
export function findingKey({ kind, referenceId, orderIds, repair, keyIds = [] }: Finding): string {
  const ids = orderIds.toSorted();
  const others = ids.length > MAX_IDS_IN_KEY ? [ids.length - MAX_IDS_IN_KEY] : [];
  // The whole order may be refunded later, which is another cause.
  const cause = repair === 'deliver-or-notify' ? `${kind} of a part` : kind;
  return JSON.stringify([cause, referenceId ?? null, ...ids.slice(0, MAX_IDS_IN_KEY), ...others, ...keyIds.toSorted()]);
}

/**
 * Matches a suggested finding with those of a second reading: the same finding, or the one to which its purchase and
 * order lead by then. A purchase has at most one finding about its own order, and at most one double purchase, whose
 * orders may have changed.
 */
export function matchingFinding(suggested: Finding, found: readonly Finding[]): Finding | undefined {
  const key = findingKey(suggested);
  const same = found.find((one) => findingKey(one) === key);
  if (same) return same;
  const ofPurchase = found.filter(({ referenceId }) => referenceId === suggested.referenceId);
  const double = ofPurchase.find(({ kind }) => kind === 'DOUBLE_PURCHASE');
  if (suggested.kind === 'DOUBLE_PURCHASE') return double;
  if (!isAboutOwnOrder(suggested)) return undefined;
  // If the purchase's own order turns out to exist, the order that was shown in its place is a second one.
  return ofPurchase.find(isAboutOwnOrder) ?? (suggested.kind === 'MISSING_AT_PARTNER' ? double : undefined);
}

function isAboutOwnOrder({ kind }: Finding): boolean {
  return !NOT_ABOUT_OWN_ORDER.includes(kind);
}
