import { explainDoublePurchase } from '../double-purchase';
import { sumOfAmounts } from '../money';
import { isSafeOrderId, safeStatus } from '../order';
import { type Finding, FINDING_KINDS } from './finding';
import {
  isDebitLowered,
  type KnownPurchase,
  type OwnOrders,
  type PartnerOrder,
  type UnreadableRecord,
} from './records';
import type { Classification } from './classify';

/** Describes a purchase, its own order, and further orders if the finding is about them. */
export function describeClassified(
  { kind, repair, advice = FINDING_KINDS[kind].advice }: Classification,
  purchase: KnownPurchase,
  { order, others }: OwnOrders,
): Finding {
  const { referenceId, workflowId, totalDebit } = purchase;
  const orderId = order?.id ?? purchase.orderId;
  const orderIds = [orderId, ...others.map((other) => other.id)].filter((id) => id !== undefined);
  return {
    kind,
    referenceId,
    workflowId,
    orderIds,
    amounts: {
      debited: totalDebit,
      debitedNow: order?.totalDebit,
      history: order?.amount,
      furtherOrders: others.length === 0 ? undefined : sumOfAmounts(others.map((other) => other.amount)),
    },
    explanation: explainFinding(kind, purchase, { order, others }),
    advice: adviceFor(advice, referenceId, orderId),
    repair,
    keyIds: kind === 'KEYS_GONE' ? order?.goneKeyIds : undefined,
  };
}

/**
 * Orders without a purchase have nothing in common, so each is a separate finding. Equal explanations share one string,
 * because there may be a hundred thousand.
 */
export function describeOrphans(orders: readonly PartnerOrder[]): Finding[] {
  const texts = new Map<string, string>();
  return orders.map((order) => {
    const text = explainOrphan(order);
    const explanation = texts.get(text) ?? text;
    texts.set(explanation, explanation);
    return {
      kind: 'ORPHAN',
      referenceId: order.referenceId || undefined,
      orderIds: [order.id],
      amounts: { history: order.amount },
      explanation,
      advice: FINDING_KINDS.ORPHAN.advice,
    };
  });
}

function explainOrphan({ referenceId, status, quantity, title }: PartnerOrder): string {
  const count = quantity === undefined ? '' : `${quantity} × `;
  const what = title ? `An order of ${count}“${title}”` : 'An order';
  const nameless = referenceId ? '' : ', without a reference';
  return `${what} is ${safeStatus(status)} at the partner${nameless}, and no purchase in this namespace placed it.`;
}

const WHAT: Record<UnreadableRecord['what'], string> = {
  time: 'Not everything was reconciled',
  history: 'The order history is incomplete',
  row: "A row of the order history can't be read",
  order: "An order can't be read at the partner",
  memo: "The memo of the purchase can't be read",
};

/** Describes an unreadable record and its purchase, if that is known. */
export function describeUnreadable(
  { what, id, reason, referenceId }: UnreadableRecord,
  purchase?: KnownPurchase,
): Finding {
  return {
    kind: 'UNREADABLE',
    referenceId,
    workflowId: purchase?.workflowId,
    orderIds: id === undefined ? [] : [id],
    amounts: { debited: purchase?.totalDebit },
    explanation: `${WHAT[what]}: ${reason}.`,
    advice: adviceAbout(what, referenceId),
  };
}

function adviceAbout(what: UnreadableRecord['what'], referenceId?: string): string {
  if (what === 'memo')
    return `Run \`npx fulfilment status ${referenceId}\` to see what happened to it. Find out who wrote the memo of its workflow.`;
  if (what === 'time')
    return 'Run `npx fulfilment reconcile --lookback` with a time that reaches back far enough. The retention must exceed it by a day.';
  return FINDING_KINDS.UNREADABLE.advice;
}

/** The most references that an explanation names. */
const MAX_NAMED_PURCHASES = 10;

/** Describes purchases that share keys. */
export function describeSharedKeys(purchases: readonly KnownPurchase[], keys: number): Finding {
  const sorted = purchases.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
  const named = sorted.slice(0, MAX_NAMED_PURCHASES).map((purchase) => purchase.referenceId);
  const more = sorted.length > MAX_NAMED_PURCHASES ? ` and ${sorted.length - MAX_NAMED_PURCHASES} more` : '';
  const where = `in ${sorted.length} purchases: ${named.join(', ')}${more}`;
  return describeSameKey(sorted, keys, where);
}

/** Describes a purchase that delivered keys more than once. */
export function describeRepeatedKeys(purchase: KnownPurchase, keys: number): Finding {
  return describeSameKey([purchase], keys, 'more than once within this purchase');
}

function describeSameKey(purchases: readonly KnownPurchase[], keys: number, where: string): Finding {
  return {
    kind: 'SAME_KEY_TWICE',
    referenceId: purchases[0]?.referenceId,
    workflowId: purchases[0]?.workflowId,
    orderIds: [...new Set(purchases.flatMap((purchase) => purchase.orderId ?? []))],
    amounts: { debited: sumOfAmounts(purchases.map((purchase) => purchase.totalDebit)) },
    explanation: `${keys === 1 ? 'One key was' : `${keys} keys were`} delivered ${where}.`,
    advice: FINDING_KINDS.SAME_KEY_TWICE.advice,
  };
}

/** An unsafe id never becomes part of a command, because operators paste commands into a shell. */
const UNUSABLE_ID =
  "Ask the partner about the order of this purchase. The order id has characters that can't be used in a command.";

/** Replaces both words in one pass, because a reference may contain the word ORDER. */
function adviceFor(advice: string, referenceId: string, orderId = 'ORDER'): string {
  if (advice.includes('ORDER') && !isTypeable(orderId)) return UNUSABLE_ID;
  return advice.replace(/REFERENCE|ORDER/g, (word) => (word === 'ORDER' ? orderId : referenceId));
}

function safeId(orderId: string): string {
  return isTypeable(orderId) ? orderId : '(an unusable id)';
}

/** A shell expands a leading tilde, and a leading hyphen begins an option. */
function isTypeable(orderId: string): boolean {
  return isSafeOrderId(orderId) && /^[A-Za-z0-9]/.test(orderId);
}

function explainFinding(kind: Finding['kind'], purchase: KnownPurchase, { order, others }: OwnOrders): string {
  const here = describeState(purchase);
  const there = order
    ? `its order at the partner is ${kind === 'STUCK' ? 'still ' : ''}${safeStatus(order.status)}`
    : '';
  switch (kind) {
    case 'DOUBLE_PURCHASE':
      return explainDoublePurchase(others.length);
    case 'MISSING_AT_PARTNER':
      return others.length === 0
        ? `${here}, but the order history does not show its order.`
        : `${here}, but the order history shows another order under its reference instead.`;
    case 'AMOUNT_MISMATCH':
      return purchase.state === 'FAILED'
        ? 'The order failed and should cost nothing, but an amount was debited for it.'
        : 'The partner now shows a different amount from the debit when the order was last read.';
    case 'SHORTFALL_REFUNDED':
      return order?.status === 'PARTIAL_COMPLETED'
        ? `${here}${formatKeyCount(purchase)}; the partner charges only the price of those keys.`
        : `${here}${formatKeyCount(purchase)}; ${there}.`;
    case 'SHORTFALL':
    case 'SHORTFALL_FILLED':
    case 'UNDELIVERED':
      return `${here}${formatKeyCount(purchase)}; ${there}${debitChange(purchase, order)}.`;
    case 'KEYS_GONE':
      return `Delivered keys that are no longer in the order: ${order?.goneKeyIds?.length}.`;
    case 'STUCK':
      return purchase.workflowStatus === 'RUNNING'
        ? `The purchase is still ${safeStatus(purchase.state)}.`
        : `${here}; ${there}.`;
    default:
      return `${here}; ${there}.`;
  }
}

function describeState({ state, workflowStatus, earlierOrderId }: KnownPurchase): string {
  const earlier = earlierOrderId === undefined ? '' : `; an earlier run recorded the order ${safeId(earlierOrderId)}`;
  if (workflowStatus === 'RUNNING') return `The purchase is ${safeStatus(state)}${earlier}`;
  if (workflowStatus === 'COMPLETED') return `The purchase ended as ${safeStatus(state)}`;
  const at = state === '' ? '' : ` in the state ${safeStatus(state)}`;
  return `The workflow of the purchase is ${safeStatus(workflowStatus)}${at}`;
}

function formatKeyCount({ ordered, delivered }: KnownPurchase): string {
  return ordered === undefined || delivered === undefined ? '' : ` with ${delivered} of ${ordered} keys delivered`;
}

function debitChange(purchase: KnownPurchase, order?: PartnerOrder): string {
  if (!order || !isDebitLowered(purchase, order)) return '';
  return `, and its debit has gone down from ${purchase.totalDebit} to ${order.totalDebit}`;
}
