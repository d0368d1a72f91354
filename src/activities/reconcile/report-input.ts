import { indexOwnership, type KnownPurchase, type PartnerOrder, totalsOf } from '../../domain/reconciliation/index';
import type { ReconcileOrdersInput, ReportedFinding } from '../../contracts/reconciliation';
import { calendarIn, type ReconciliationReport } from '../../report/index';

/** What a report is made of. Instants are epoch ms. */
export interface ReportInput extends ReconcileOrdersInput {
  runId: string;
  now: number;
  orders: readonly PartnerOrder[];
  purchases: readonly KnownPurchase[];
  findings: ReportedFinding[];
}

/** Makes the report. Records from before the window were read only to be followed, and count in no total. */
export function reportOf(input: ReportInput): ReconciliationReport {
  const { runId, from, to, now, dryRun, findings } = input;
  const timeZone = knownTimeZone(input.timeZone);
  const orders = input.orders.filter((order) => order.createdAt >= from);
  const purchases = input.purchases.filter((purchase) => purchase.startedAt >= from);
  return {
    schema: 1,
    runId,
    from: isoOf(from),
    to: isoOf(to),
    createdAt: isoOf(now),
    dryRun,
    orders: orders.length,
    purchases: purchases.length,
    ...totalsOf(indexOwnership(orders, purchases), calendarIn(timeZone)),
    timeZone,
    findings,
    repaired: findings.filter((finding) => finding.done === 'repaired').length,
  };
}

/** The server may know a time zone that this Node does not: a report in UTC is better than none. */
function knownTimeZone(timeZone: string): string {
  try {
    calendarIn(timeZone);
    return timeZone;
  } catch {
    return 'UTC';
  }
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
