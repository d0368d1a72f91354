/**
 * The kinds of findings, the most urgent first: the order of a report. People read the title of a kind, its meaning, and what to
 * do about a finding that was not repaired.
 */
export const KIND_DOCS = {
  DOUBLE_PURCHASE: {
    title: 'Bought twice',
    means: 'The partner has more than one order for one sale. One of them is used; the others cost money all the same.',
    advice: 'Ask the partner to cancel and refund the further orders. Their keys must not be sold while that is open.',
  },
  SAME_KEY_TWICE: {
    title: 'The same key in two purchases',
    means: 'The partner delivered the same key for several sales. Only the first customer to use it can.',
    advice: 'Claim a replacement from the partner for every sale but one, and inform the customers before they use it.',
  },
  LOST: {
    title: 'Stopped or held here, ordered at the partner',
    means: 'The purchase was stopped, failed or is held here, and its order exists at the partner.',
    advice: 'A reconciliation delivers it as soon as the order is complete. Find out who or what stopped the purchase.',
  },
  LATE: {
    title: 'Delivered late by the partner',
    means: 'The purchase ended as overdue, and the order has keys by now.',
    advice: 'Deliver the keys with `redeliver REFERENCE`.',
  },
  UNDELIVERED: {
    title: 'Paid for, not delivered',
    means: 'The order is complete in whole or in part, and the checkout did not receive everything that was paid for.',
    advice: 'Decide whether the customer still wants it; else ask the partner for a refund.',
  },
  MISSING_AT_PARTNER: {
    title: 'Missing at the partner',
    means: "A purchase here has an order that the partner's order history does not show.",
    advice: 'Search for the order with `orders --search ORDER`. If it is not found, ask the partner what became of it.',
  },
  UNREADABLE: {
    title: "Can't be read",
    means:
      "A record can't be read: a row of the order history, an order, or the memo of a purchase. All others were compared.",
    advice: 'Ask the partner to correct its answer; what a record hides may be an order that nobody knows.',
  },
  ORPHAN: {
    title: 'No purchase here',
    means: 'The partner has an order that belongs to no purchase of this namespace.',
    advice:
      'Find out who placed it: a person, or another system with the same API key. If neither did, change the API key.',
  },
  REFUNDED_AFTER_DELIVERY: {
    title: 'Refunded after delivery',
    means: 'The keys were delivered, and the partner has refunded the order since. The keys may no longer work.',
    advice: 'Ask the partner whether the keys were revoked, and compensate the customer if they were.',
  },
  KEYS_GONE: {
    title: 'Delivered keys left the order',
    means: 'Keys that were delivered are no longer in the order. They may no longer work.',
    advice: 'Ask the partner whether these keys still work, and compensate the customer if they do not.',
  },
  AMOUNT_MISMATCH: {
    title: 'Different amounts',
    means: 'The amount debited for an order is not the amount that the partner shows for it now.',
    advice: 'Compare both amounts with the agreed price and claim the difference.',
  },
  STATUS_MISMATCH: {
    title: 'Outcome and status do not fit',
    means: 'The outcome of the purchase here and the status of its order at the partner contradict each other.',
    advice: 'Compare `status REFERENCE` with `orders --search ORDER`, and clarify the difference with the partner.',
  },
  SHORTFALL_FILLED: {
    title: 'The missing keys came',
    means: 'Only a part was delivered, and the order is complete at the partner by now.',
    advice:
      'A reconciliation that is no dry run delivers them. If keys are still missing, claim them from the partner.',
  },
  SHORTFALL_REFUNDED: {
    title: 'The missing keys were refunded',
    means: 'Only a part was delivered, and the partner has refunded the rest or all of the order since.',
    advice: 'Refund the customer what was not delivered, if that has not been done.',
  },
  STUCK: {
    title: 'Stuck for more than a day',
    means: 'A purchase has been running, or an order has been open at the partner, for more than a day.',
    advice: 'See with `status REFERENCE` what it waits for.',
  },
} satisfies Record<string, { title: string; means: string; advice: string }>;

export type FindingKind = keyof typeof KIND_DOCS;

export const FINDING_KINDS = Object.keys(KIND_DOCS) as FindingKind[];

/** One difference between the partner's orders and the purchases here. */
export interface Finding {
  kind: FindingKind;
  referenceId?: string;
  workflowId?: string;
  /** The purchase's own order first, where there is one. */
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
  /** `total_debit` of the order, as it was read here. */
  debited?: number;
  /** `total_debit` of the first order as the reconciliation read it; absent where only its row was read. */
  debitedNow?: number;
  /** What the order history shows for the first order. */
  history?: number;
  /** What the order history shows for the further orders together. */
  surplus?: number;
}

/** What a reconciliation may do about a finding by itself. None of these buys. */
export type Repair =
  /** Bring the checkout up to date with the keys that it does not have. */
  | 'deliver'
  /** The same, and without such a key `notify`: the debit says that the rest was refunded, and the order may hold another key. */
  | 'deliver-or-notify'
  /** Bring the checkout up to date with the refund of the order. */
  | 'notify-refund'
  /** Send the decision to the held purchase that this order is its own. */
  | 'adopt'
  /** Notify the checkout that a person must act. */
  | 'notify';

/** Whether a repair reads the purchase with its order, also in a dry run. */
export function readsSale({ repair }: Finding): boolean {
  return repair === 'deliver' || repair === 'deliver-or-notify' || repair === 'notify-refund';
}

/**
 * What was done about a finding. `repaired`: what can be done was done. `notified`: the checkout was notified, and a person must
 * act. `unrepaired`: nothing was done, and a person must act. `dry-run`: a dry run found it, and did nothing.
 */
export type FindingStatus = 'repaired' | 'notified' | 'unrepaired' | 'dry-run';

/** A finding with its status. `note`: what was done, or why it was not, in one sentence without a key. */
export type ReportedFinding = Finding & { done: FindingStatus; note?: string };

/** Adds to a finding what was done about it: to itself, for copies of a hundred thousand would be much to keep. */
export function withStatus(finding: Finding, done: FindingStatus, note?: string): ReportedFinding {
  return Object.assign(finding, { done, note });
}

/** The kinds that are not about a purchase together with its own order. */
const ABOUT_OTHERS: readonly FindingKind[] = ['DOUBLE_PURCHASE', 'SAME_KEY_TWICE', 'UNREADABLE', 'ORPHAN', 'KEYS_GONE'];

/** The most order ids in the key of a finding, which goes into memos. */
const MOST_IDS_IN_KEY = 10;

/**
 * Identifies a finding: the same in every reconciliation that finds it, and another for another cause. Of many orders the
 * first ones and the number of the others stand for all.
 */
export function findingKey({ kind, referenceId, orderIds, repair }: Finding): string {
  const ids = orderIds.toSorted();
  const others = ids.length > MOST_IDS_IN_KEY ? [ids.length - MOST_IDS_IN_KEY] : [];
  // All of the order may be refunded later, which is another cause.
  const cause = repair === 'deliver-or-notify' ? `${kind} of a part` : kind;
  return JSON.stringify([cause, referenceId ?? null, ...ids.slice(0, MOST_IDS_IN_KEY), ...others]);
}

/**
 * What a second reading found in place of a suggested finding: the same one, or what its purchase and the own order are by now.
 * A purchase has at most one finding about its own order, and at most one double purchase, of more or fewer orders by now.
 */
export function confirmationOf(suggested: Finding, found: readonly Finding[]): Finding | undefined {
  const key = findingKey(suggested);
  const same = found.find((one) => findingKey(one) === key);
  if (same) return same;
  const ofPurchase = found.filter(({ referenceId }) => referenceId === suggested.referenceId);
  const double = ofPurchase.find(({ kind }) => kind === 'DOUBLE_PURCHASE');
  if (suggested.kind === 'DOUBLE_PURCHASE') return double;
  if (!isAboutOwnOrder(suggested)) return undefined;
  // The order under the reference that was shown instead is a second one, if the own order is there after all.
  return ofPurchase.find(isAboutOwnOrder) ?? (suggested.kind === 'MISSING_AT_PARTNER' ? double : undefined);
}

function isAboutOwnOrder({ kind }: Finding): boolean {
  return !ABOUT_OTHERS.includes(kind);
}
