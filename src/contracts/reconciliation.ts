import type { FindingKind, ReportedFinding } from '../domain/reconciliation/finding';

export type { ReportedFinding } from '../domain/reconciliation/finding';

/** The look-back of a reconciliation for which none is given, in ms. */
export const DEFAULT_LOOKBACK_MS = 72 * 3_600_000;

/** The one argument of `reconcileWorkflow`, which may be absent. */
export interface ReconcileInput {
  /** The look-back in ms. */
  lookbackMs?: number;
  /** Only report. */
  dryRun?: boolean;
  /** The time zone of the report's days and hours; UTC if absent. */
  timeZone?: string;
}

/** What a list shows of a reconciliation: the memo of `reconcileWorkflow`. */
export interface ReconciliationMemo {
  lookbackMs: number;
  dryRun: boolean;
}

/** The result of `reconcileWorkflow`. Instants are ISO 8601. */
export interface ReconciliationResult {
  from: string;
  to: string;
  /** Orders of the partner within the look-back. */
  orders: number;
  findings: Partial<Record<FindingKind, number>>;
  /** The first 200; the report has them all. */
  details: ReportedFinding[];
  repaired: number;
  /** The path of the report for people, on the worker that wrote it; or `not written: …` with the reason. */
  report: string;
}

/** The input of the activity. It is the same for each attempt, so that each reads the same window. */
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
  /** Reads the records of both sides, compares them, repairs what can be repaired and writes the report. Safe to repeat. */
  reconcileOrders(input: ReconcileOrdersInput): Promise<ReconciliationResult>;
}
