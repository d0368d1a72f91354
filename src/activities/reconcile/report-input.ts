import type { ReportedFinding } from '../../contracts/reconciliation';
import { type KnownPurchase, type PartnerOrder, totalsOf } from '../../domain/reconciliation/index';
import { calendarIn, type ReconciliationReport } from '../../report/index';

/** All that a report tells of; instants are epoch ms. */
export interface ReportInput {
  runId: string;
  from: number;
  to: number;
  now: number;
  dryRun: boolean;
  timeZone: string;
  orders: readonly PartnerOrder[];
  purchases: readonly KnownPurchase[];
  findings: ReportedFinding[];
}

/** Puts the report together. A purchase that began before the window is followed, and is in no total. */
export function reportOf(reckoning: ReportInput): ReconciliationReport {
  const { runId, from, to, now, dryRun, orders, findings } = reckoning;
  const timeZone = knownZone(reckoning.timeZone);
  const purchases = reckoning.purchases.filter((purchase) => purchase.startedAt >= from);
  return {
    schema: 1,
    runId,
    from: isoOf(from),
    to: isoOf(to),
    createdAt: isoOf(now),
    dryRun,
    orders: orders.length,
    purchases: purchases.length,
    ...totalsOf(orders, purchases, calendarIn(timeZone)),
    timeZone,
    findings,
    mended: findings.filter((finding) => finding.done === 'mended').length,
  };
}

/** The server may know a time zone that this Node does not: a report by another clock is better than none. */
function knownZone(timeZone: string): string {
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
