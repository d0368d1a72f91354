import { DOUBLE_PURCHASE_ADVICE } from '../double-purchase';

/**
 * The kinds of findings, the most urgent first: the order of a report. A person reads the title, what it means, and
 * what to do if it was not repaired. `does` is what a reconciliation does about it, for the table in
 * docs/operations.md.
 */
export const FINDING_KINDS = {
  DOUBLE_PURCHASE: {
    title: 'Bought twice',
    means: 'The partner has several orders for one sale. One is used; the others cost money too.',
    does: 'notifies the checkout',
    advice: DOUBLE_PURCHASE_ADVICE,
  },
  SAME_KEY_TWICE: {
    title: 'One key delivered twice',
    means: 'The partner delivered one key for several sales, or twice for one sale. It probably works only once.',
    does: 'reports it',
    advice:
      'Ask the partner for a replacement for every copy but one. Warn the customers before they try to use the key.',
  },
  LOST: {
    title: 'Stopped or held, but ordered at the partner',
    means: 'The purchase was stopped, failed, or is held without an order. Its order exists at the partner.',
    does: 'delivers the order when it is complete; a held purchase adopts it',
    advice: 'A reconciliation delivers it when it is complete. Find out who or what stopped the purchase.',
  },
  LATE: {
    title: 'Keys came after the deadline',
    means: 'The purchase ended as overdue. Its order has keys now.',
    does: 'delivers them',
    advice: 'Deliver the keys with `npx fulfilment redeliver REFERENCE`.',
  },
  UNDELIVERED: {
    title: 'Paid for, not delivered',
    means:
      'The order has keys, but the purchase is held, was abandoned, or ended as rejected, not placed or cancelled.',
    does: 'notifies a checkout that was told that nothing was bought',
    advice: 'Decide whether the customer still wants the keys. If not, ask the partner for a refund.',
  },
  SHORTFALL: {
    title: 'Fewer keys than ordered',
    means: 'Keys are missing in the order, and its debit does not show that the partner refunded them.',
    does: 'delivers what is new; notifies the checkout if nothing is new and the debit went down',
    advice: 'Ask the partner for the missing keys, or for their price if it has not refunded them.',
  },
  MISSING_AT_PARTNER: {
    title: 'Missing at the partner',
    means: 'A purchase has an order, but neither the order history nor a read of the order shows it.',
    does: 'reports it',
    advice:
      'Search for it with `npx fulfilment orders --search ORDER`. If nothing is found, ask the partner what happened to it.',
  },
  UNREADABLE: {
    title: "Can't be read",
    means: "A row of the order history, an order, or the memo of a purchase can't be read. All others were compared.",
    does: 'reports it',
    advice: 'Ask the partner to correct its answer. An unreadable record may hide an order that nobody knows.',
  },
  ORPHAN: {
    title: 'No purchase for this order',
    means: 'The partner has an order whose id and reference are unknown in this namespace.',
    does: 'reports it',
    advice:
      'Find out who placed it: a person, or another system with the same API key. If nobody did, change the API key.',
  },
  REFUNDED_AFTER_DELIVERY: {
    title: 'Refunded after delivery',
    means: 'All keys were delivered. The partner refunded the order later, and the keys may no longer work.',
    does: 'sends `purchase.refunded`',
    advice: 'Ask the partner whether it revoked the keys. If it did, compensate the customer.',
  },
  KEYS_GONE: {
    title: 'Delivered keys left the order',
    means: 'Keys that were delivered are no longer in the order. They may no longer work.',
    does: 'notifies the checkout',
    advice: 'Ask the partner whether these keys still work. If they do not, compensate the customer.',
  },
  AMOUNT_MISMATCH: {
    title: 'Different amounts',
    means: 'The amount that was debited is not the amount that the partner shows now, or a failed order was debited.',
    does: 'reports it',
    advice: 'Compare both amounts with the agreed price, and claim the difference.',
  },
  STATUS_MISMATCH: {
    title: 'Outcome and status contradict each other',
    means: 'The outcome of the purchase contradicts the status of its order at the partner.',
    does: 'sends `purchase.refunded`, or notifies the checkout if what it knows is wrong',
    advice:
      'Compare `npx fulfilment status REFERENCE` with `npx fulfilment orders --search ORDER`, and ask the partner which is right.',
  },
  SHORTFALL_FILLED: {
    title: 'The missing keys arrived',
    means: 'Only a part was delivered. The order is complete now.',
    does: 'delivers them; without a new key it is a `SHORTFALL`',
    advice:
      'The next reconciliation delivers them, unless it is a dry run. If keys are still missing, ask the partner.',
  },
  SHORTFALL_REFUNDED: {
    title: 'The missing keys were refunded',
    means: 'Only a part was delivered. The partner has refunded the rest, or the whole order.',
    does: 'if the whole order was refunded, sends `purchase.refunded`; if only the rest was, delivers any new keys, otherwise notifies the checkout',
    advice: 'Refund the customer what was not delivered, if you have not done that yet.',
  },
  STUCK: {
    title: 'Stuck for more than a day',
    means: 'For more than a day, the purchase has been running, or its order has been open after the purchase ended.',
    does: 'reports it',
    advice: 'See what it waits for with `npx fulfilment status REFERENCE`.',
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
  /** What is wrong, in one sentence. It holds no key. */
  explanation: string;
  /** What an operator should do if it is not repaired. */
  advice: string;
  /** What the reconciliation may do about it by itself; absent if nothing. */
  repair?: Repair;
}

/** Decimal numbers as the partner writes them. */
export interface FindingAmounts {
  /** `total_debit` of the order, as the purchase last read it. */
  debited?: number;
  /** `total_debit` of the first order as the reconciliation read it; absent if it read only the row. */
  debitedNow?: number;
  /** What the order history shows for the first order. */
  history?: number;
  /** What the order history shows for the further orders of a double purchase together. */
  furtherOrders?: number;
}

/** What a reconciliation may do about a finding by itself. None of these buys. */
export type Repair =
  /** Deliver the keys that the checkout does not have. */
  | 'deliver'
  /** The same, or `notify` if no key is new: the debit shows a refund, but the order may still hold another key. */
  | 'deliver-or-notify'
  /** Send the checkout the refund of the order. */
  | 'notify-refund'
  /** Decide the hold of the purchase: this order is its own. */
  | 'adopt'
  /** Notify the checkout that a person must act. */
  | 'notify';

/** Whether a repair reads the purchase with its order, also in a dry run. */
export function hasSaleRepair({ repair }: Finding): boolean {
  return repair === 'deliver' || repair === 'deliver-or-notify' || repair === 'notify-refund';
}

/**
 * What was done about a finding. `repaired`: what can be done was done. `notified`: the checkout was notified, and a
 * person must act. `unrepaired`: nothing was done, and a person must act. `dry-run`: a dry run found it, and did
 * nothing.
 */
export type FindingStatus = 'repaired' | 'notified' | 'unrepaired' | 'dry-run';

/** A finding with its status. `note`: what was done, or why it was not, in one sentence without a key. */
export type ReportedFinding = Finding & { done: FindingStatus; note?: string };

/**
 * Adds to a finding what was done about it. It changes the finding itself, because a hundred thousand copies would take
 * too much memory.
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

/** The most order ids in the key of a finding, which goes into memos. */
const MAX_IDS_IN_KEY = 10;

/**
 * Identifies a finding. Every reconciliation gives the same finding the same key, and another cause another key. If
 * there are many orders, the key has the first ids and the number of the others.
 */
export function findingKey({ kind, referenceId, orderIds, repair }: Finding): string {
  const ids = orderIds.toSorted();
  const others = ids.length > MAX_IDS_IN_KEY ? [ids.length - MAX_IDS_IN_KEY] : [];
  // The whole order may be refunded later. That is another cause.
  const cause = repair === 'deliver-or-notify' ? `${kind} of a part` : kind;
  return JSON.stringify([cause, referenceId ?? null, ...ids.slice(0, MAX_IDS_IN_KEY), ...others]);
}

/**
 * Matches a suggested finding with those of a second reading: the same finding, or the one that its purchase and order
 * lead to by then. A purchase has at most one finding about its own order, and at most one double purchase, whose
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
  // If the purchase's own order exists after all, the order that was shown in its place is a second one.
  return ofPurchase.find(isAboutOwnOrder) ?? (suggested.kind === 'MISSING_AT_PARTNER' ? double : undefined);
}

function isAboutOwnOrder({ kind }: Finding): boolean {
  return !NOT_ABOUT_OWN_ORDER.includes(kind);
}
