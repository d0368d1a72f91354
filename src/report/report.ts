import type { ReportedFinding } from '../domain/reconciliation/finding';
import type { RecordIndex } from '../domain/reconciliation/records';
import { calendarIn, type Totals, totalsOf } from './totals';

/**
 * The report of one reconciliation, and the schema of its JSON. Instants are ISO 8601 in UTC, amounts decimal numbers as the
 * partner writes them.
 */
export interface ReconciliationReport extends Totals {
  schema: 1;
  /** The run of `reconcileWorkflow` that made it. */
  runId: string;
  from: string;
  to: string;
  createdAt: string;
  dryRun: boolean;
  /** The time zone of `days` and `hours`; UTC if absent. */
  timeZone?: string;
  findings: ReportedFinding[];
  repaired: number;
}

/** What a report is made of. Instants are epoch ms. */
export interface ReportInput extends Pick<ReconciliationReport, 'runId' | 'dryRun' | 'findings'> {
  from: number;
  to: number;
  now: number;
  timeZone: string;
  records: RecordIndex;
}

/** Makes the report. The server may know a time zone that this Node does not: a report in UTC is better than none. */
export function reportOf({ runId, from, to, now, dryRun, records, findings, ...asked }: ReportInput) {
  const timeZone = isKnown(asked.timeZone) ? asked.timeZone : 'UTC';
  return {
    schema: 1,
    runId,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    createdAt: new Date(now).toISOString(),
    dryRun,
    ...totalsOf(records, calendarIn(timeZone), from),
    timeZone,
    findings,
    repaired: findings.filter(({ done }) => done === 'repaired').length,
  } satisfies ReconciliationReport;
}

function isKnown(timeZone: string): boolean {
  try {
    return calendarIn(timeZone) !== undefined;
  } catch {
    return false;
  }
}
