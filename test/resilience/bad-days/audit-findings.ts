import type { ReportedFinding } from '../../../src/contracts/reconciliation';
import type { PurchaseEvidence } from './audit-day';
import type { DayParts } from './happenings';
import type { Plan } from './plan';

/** Findings of a reconciliation about a purchase that neither the partner's ledger nor the checkout confirms. */
export function auditFindings(plan: Plan, parts: DayParts, evidence: readonly PurchaseEvidence[]): string[] {
  const findings = parts.chronicle.reconciliations.flatMap(({ details }) => details);
  const false_ = findings.flatMap((finding) => {
    const one = evidence.find(
      ({ referenceId, orders }) =>
        finding.referenceId === referenceId || orders.some(({ id }) => finding.orderIds.includes(id)),
    );
    if (one === undefined || isTrue(plan, parts, finding, one)) return [];
    return [`false finding: ${finding.kind} of ${one.planned.name}: ${finding.explanation}`];
  });
  return [...new Set(false_)];
}

/** Whether the finding may have been true when it was made. Orders of these purchases are never orphans. */
function isTrue(plan: Plan, parts: DayParts, finding: ReportedFinding, one: PurchaseEvidence): boolean {
  const { planned, referenceId, orders, billable, status } = one;
  const isTouched = parts.chronicle.touched.has(planned.name);
  switch (finding.kind) {
    case 'ORPHAN':
    case 'STUCK':
      return false;
    case 'SAME_KEY_TWICE':
    case 'AMOUNT_MISMATCH':
      return isTouched || changes(plan, one);
    case 'MISSING_AT_PARTNER':
      return isTouched && !orders.some(({ id }) => finding.orderIds.includes(id));
    case 'DOUBLE_PURCHASE':
      return orders.length > 1;
    case 'REFUNDED_AFTER_DELIVERY':
    case 'SHORTFALL_REFUNDED':
      return orders.some((order) => order.status === 'REFUNDED') || changes(plan, one);
    case 'STATUS_MISMATCH':
      return isTouched || changes(plan, one) || status.result?.outcome !== 'DELIVERED' || orders.length !== 1;
    case 'UNREADABLE':
      return isBroken(plan, one);
    case 'KEYS_GONE':
      return true;
    // A kind without its own rule is judged like a failed delivery.
    default: {
      // The checkout was notified of a hold, whether or not it accepted the event.
      const wasHeld = parts.environment.receiver
        .attemptsOf(referenceId)
        .some(({ body }) => body.type === 'purchase.held');
      return (
        isTouched || changes(plan, one) || status.result?.outcome !== 'DELIVERED' || billable.length !== 1 || wasHeld
      );
    }
  }
}

const CHANGING = ['demo-partial-then-complete', 'demo-complete-then-refunded', 'demo-late', 'demo-slow'];

/** Whether the order of a purchase changed after the purchase had ended. */
function changes({ events }: Plan, { planned }: PurchaseEvidence): boolean {
  return (
    CHANGING.some((product) => product in planned.items) ||
    events.some(({ what }) => what.type.startsWith('order ') && 'of' in what && what.of === planned.name)
  );
}

/** Whether the row or the keys of its order have a lasting fault. */
export function isBroken({ events }: Plan, { planned }: PurchaseEvidence): boolean {
  return events.some(({ what }) => what.type.endsWith(' breaks') && 'of' in what && what.of === planned.name);
}
