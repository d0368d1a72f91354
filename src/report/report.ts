import type { ReportedFinding, Totals } from '../domain/reconciliation/index';

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
  /** How many orders and purchases were compared. */
  orders: number;
  purchases: number;
  /** The time zone of `days` and `hours`; UTC if absent. */
  timeZone?: string;
  findings: ReportedFinding[];
  repaired: number;
}
