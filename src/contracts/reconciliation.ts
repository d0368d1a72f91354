import type { Finding, FindingKind } from '../domain/reconciliation/index';

/** How far back a reconciliation looks unless told otherwise, in ms. */
export const DEFAULT_LOOKBACK_MS = 72 * 3_600_000;

/** The one argument of `reconcileWorkflow`; none at all is fine too. */
export interface ReconcileInput {
  /** How far back to look, in ms. */
  lookbackMs?: number;
  /** Only report. */
  dryRun?: boolean;
  /** In which the report tells days and hours; UTC if absent. */
  timeZone?: string;
}

/** What was done about a finding. `notified`: the checkout knows of it; `left`: it is for people. */
export type FindingStatus = 'mended' | 'notified' | 'left' | 'dry-run';

/** A finding with what became of it. `note` says more where `done` alone doesn't. */
export type ReportedFinding = Finding & { done: FindingStatus; note?: string };

/** What `reconcileWorkflow` ends with. Times are ISO 8601. */
export interface ReconciliationResult {
  from: string;
  to: string;
  /** Orders of the partner within the window. */
  orders: number;
  findings: Partial<Record<FindingKind, number>>;
  /** The first 200; the report has them all. */
  details: ReportedFinding[];
  mended: number;
  /** Where the worker has written the report for people. */
  report: string;
}

/** The input of the activity: the same for each attempt, so that a run that begins again looks at the same window. */
export interface ReconcileOrdersInput {
  /** Epoch ms. */
  from: number;
  /** Epoch ms. */
  to: number;
  dryRun: boolean;
  timeZone: string;
}

/** The activity of `reconcileWorkflow`. */
export interface ReconcileActivities {
  /** Reads both books, joins them, mends what can be mended, writes the report. Safe to begin again at any point. */
  reconcileOrders(input: ReconcileOrdersInput): Promise<ReconciliationResult>;
}
