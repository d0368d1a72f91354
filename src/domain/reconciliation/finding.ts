import type { FindingKind } from './finding-kinds';
import type { Repair } from './repairs';

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

/**
 * What was done about a finding. `repaired`: what can be done was done. `notified`: the checkout was notified, a person must
 * act. `left`: a person must act. `dry-run`: a dry run found it, and did nothing.
 */
export type FindingStatus = 'repaired' | 'notified' | 'left' | 'dry-run';

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
 * first ones and the number of the others stand for all. The refund of a part has a key of its own, because all of the order may
 * be refunded later.
 */
export function findingKey({ kind, referenceId, orderIds, repair }: FindingIdentity): string {
  const ids = orderIds.toSorted();
  const others = ids.length > MOST_IDS_IN_KEY ? [ids.length - MOST_IDS_IN_KEY] : [];
  const cause = repair === 'deliver-or-notify' ? `${kind} of a part` : kind;
  return JSON.stringify([cause, referenceId ?? null, ...ids.slice(0, MOST_IDS_IN_KEY), ...others]);
}

type FindingIdentity = Pick<Finding, 'kind' | 'referenceId' | 'orderIds' | 'repair'>;

/**
 * What a second reading found in place of a suggested finding: the same one, or what its purchase and the own order are
 * together by now. A purchase has at most one finding about its own order, so whoever drops that for its kind drops it for good.
 * It has at most one double purchase too, of more or fewer orders by now.
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
