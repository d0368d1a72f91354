import { sumOfAmounts } from '../money';
import { isSafeOrderId, presentableStatus } from '../order';
import type { Finding } from './finding';
import { KIND_DOCS } from './finding-kinds';
import { isDebitLowered, type KnownPurchase, type OwnOrders, type PartnerOrder } from './records';
import type { Classification } from './repairs';

/**
 * Describes the classification of a purchase as a finding.
 *
 * @param orders the purchase's own order, and the further orders that the finding is about.
 */
export function describeFinding(
  { kind, repair, advice = KIND_DOCS[kind].advice }: Classification,
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
      surplus: others.length === 0 ? undefined : sumOfAmounts(others.map((other) => other.amount)),
    },
    explanation: explain(kind, purchase, { order, others }),
    advice: adviceFor(advice, referenceId, orderId),
    repair,
  };
}

/** Such an id never becomes part of a command: people paste it into a shell. */
const UNUSABLE_ID =
  "Ask the partner about the order of this purchase: the id that it shows has characters that can't be used in a command.";

/** In one pass, because a reference may itself contain the word ORDER. */
function adviceFor(advice: string, referenceId: string, orderId = 'ORDER'): string {
  if (advice.includes('ORDER') && !isSafeOrderId(orderId)) return UNUSABLE_ID;
  return advice.replace(/REFERENCE|ORDER/g, (word) => (word === 'ORDER' ? orderId : referenceId));
}

function explain(kind: Finding['kind'], purchase: KnownPurchase, { order, others }: OwnOrders): string {
  const here = describePurchase(purchase);
  const there = order
    ? `its order at the partner is ${kind === 'STUCK' ? 'still ' : ''}${presentableStatus(order.status)}`
    : '';
  switch (kind) {
    case 'DOUBLE_PURCHASE':
      return `The partner has ${others.length} more billable ${others.length === 1 ? 'order' : 'orders'} under this reference.`;
    case 'MISSING_AT_PARTNER':
      return others.length === 0
        ? `${here}, and the order history does not show its order.`
        : `${here}, and the order history shows another order under its reference instead of its own.`;
    case 'AMOUNT_MISMATCH':
      return purchase.state === 'FAILED'
        ? 'The order failed, which costs nothing, and yet an amount was debited for it.'
        : 'The amount debited when the order was last read here is not the amount that the partner shows now.';
    case 'SHORTFALL_REFUNDED':
      return order?.status === 'PARTIAL_COMPLETED'
        ? `${here}${keyCount(purchase)}; the partner charges the price of those alone.`
        : `${here}${keyCount(purchase)}; ${there}.`;
    case 'SHORTFALL_FILLED':
    case 'UNDELIVERED':
      return `${here}${keyCount(purchase)}; ${there}${debitChange(purchase, order)}.`;
    case 'KEYS_GONE':
      return `${order?.keysGone} of the keys that were delivered are no longer in the order.`;
    case 'STUCK':
      return purchase.execution === 'RUNNING'
        ? `The purchase is still ${presentableStatus(purchase.state)}.`
        : `${here}; ${there}.`;
    default:
      return `${here}; ${there}.`;
  }
}

function describePurchase({ state, execution }: KnownPurchase): string {
  if (execution === 'RUNNING') return `The purchase is ${presentableStatus(state)}`;
  if (execution === 'COMPLETED') return `The purchase ended as ${presentableStatus(state)}`;
  const at = state === '' ? '' : ` in the state ${presentableStatus(state)}`;
  return `The workflow of the purchase is ${presentableStatus(execution)}${at}`;
}

function keyCount({ ordered, delivered }: KnownPurchase): string {
  return ordered === undefined || delivered === undefined ? '' : ` with ${delivered} of ${ordered} keys delivered`;
}

function debitChange(purchase: KnownPurchase, order?: PartnerOrder): string {
  if (!order || !isDebitLowered(purchase, order)) return '';
  return `, and its debit has gone down from ${purchase.totalDebit} to ${order.totalDebit}`;
}
