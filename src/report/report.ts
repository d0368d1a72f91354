import type { Finding } from '../domain/reconciliation/index';

/**
 * What became of a finding. `mended`: it is put right. `notified`: the checkout was notified, a person must act. `left`: a person
 * must act. `dry-run`: it would have been mended or notified.
 */
export type Done = 'mended' | 'notified' | 'left' | 'dry-run';

export type ReportedFinding = Finding & {
  done: Done;
  /** What was done or why it was not, in words. It holds no key. */
  note?: string;
};

/** The report of one reconciliation, and the schema of its JSON. Instants are ISO 8601. Amounts are decimal numbers as the partner writes them. */
export interface ReconciliationReport {
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
  byStatus: Record<string, { orders: number; amount: number }>;
  days: { day: string; orders: number; delivered: number; amount: number }[];
  /** How many purchases were closed in each hour of the day. */
  hours: number[];
  /** The time zone of `days` and `hours`; UTC if absent. */
  timeZone?: string;
  findings: ReportedFinding[];
  mended: number;
}
