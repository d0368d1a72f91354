import { presentableStatus } from '../order';
import type { PartnerOrder, Finding, KnownPurchase } from './records';
import { KIND_DOCS } from './finding-kinds';
import type { Classification } from './classify';

/** Puts a classification on a purchase into words and numbers. `others` are the further orders of a double purchase. */
export function findingOf(
  classification: Classification,
  purchase: KnownPurchase,
  parts: { order?: PartnerOrder; others?: readonly PartnerOrder[]; amounts: Record<string, number> },
): Finding {
  const { referenceId, workflowId, orderId } = purchase;
  const { order, others = [] } = parts;
  const first = order?.id ?? orderId;
  const orderIds = [...(first === undefined ? [] : [first]), ...others.map((other) => other.id)];
  const finding: Finding = {
    kind: classification.kind,
    referenceId,
    workflowId,
    orderIds,
    amounts: parts.amounts,
    explanation: explain(classification, purchase, order, others),
    advice: adviceFor(classification.advice ?? KIND_DOCS[classification.kind].advice, referenceId, first),
  };
  const repair = isNotified(finding, purchase) ? undefined : classification.repair;
  return repair ? { ...finding, repair } : finding;
}

/** Names a finding: the same in every reconciliation that finds it, and another for another cause. */
export function findingKey(finding: Pick<Finding, 'kind' | 'referenceId' | 'orderIds'>): string {
  return JSON.stringify([finding.kind, finding.referenceId ?? null, ...finding.orderIds.toSorted()]);
}

function isNotified(finding: Finding, purchase: KnownPurchase): boolean {
  return purchase.notified?.includes(findingKey(finding)) === true;
}

function explain(
  { kind }: Classification,
  purchase: KnownPurchase,
  order: PartnerOrder | undefined,
  others: readonly PartnerOrder[],
): string {
  const there = order ? `at the partner its order is ${presentableStatus(order.status)}` : '';
  switch (kind) {
    case 'DOUBLE_PURCHASE':
      return `The partner has ${others.length} more ${others.length === 1 ? 'order' : 'orders'} under this reference that cost money.`;
    case 'MISSING_AT_PARTNER':
      return others.length === 0
        ? `${here(purchase)}, and the order history does not show its order.`
        : `${here(purchase)}, and the order history shows another order under its reference instead of its own.`;
    case 'AMOUNT_MISMATCH':
      return purchase.state === 'FAILED'
        ? 'The order failed, which costs nothing, and yet something was debited for it.'
        : 'What was debited when the order was seen here is not what the order history shows for it.';
    case 'SHORTFALL_REFUNDED':
      return order?.status === 'PARTIAL_COMPLETED'
        ? `${here(purchase)}${countOf(purchase)}; the order history shows the price of those alone.`
        : `${here(purchase)}${countOf(purchase)}; ${there}.`;
    case 'SHORTFALL_FILLED':
    case 'UNDELIVERED':
      return `${here(purchase)}${countOf(purchase)}; ${there}.`;
    case 'STUCK':
      return purchase.execution === 'RUNNING'
        ? `The purchase is still ${presentableStatus(purchase.state)}.`
        : `${here(purchase)}; ${there} to this day.`;
    default:
      return `${here(purchase)}; ${there}.`;
  }
}

function here({ state, execution }: KnownPurchase): string {
  if (execution === 'RUNNING') return `The purchase is ${presentableStatus(state)}`;
  if (execution === 'COMPLETED') return `The purchase ended as ${presentableStatus(state)}`;
  const during = state === '' ? '' : ` while ${presentableStatus(state)}`;
  return `The workflow of the purchase is ${presentableStatus(execution)}${during}`;
}

function countOf({ ordered, delivered }: KnownPurchase): string {
  return ordered === undefined || delivered === undefined ? '' : ` with ${delivered} of ${ordered} keys handed over`;
}

function adviceFor(advice: string, referenceId: string, orderId: string | undefined): string {
  return advice.replace('REFERENCE', () => referenceId).replace('ORDER', () => orderId ?? 'ORDER');
}
