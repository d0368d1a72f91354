import type { FindingKind, ReportedFinding } from '../domain/reconciliation/finding';

export type { ReportedFinding } from '../domain/reconciliation/finding';

/** The default lookback, in ms. */
export const DEFAULT_LOOKBACK_MS = 72 * 3_600_000;

/** The only argument of `reconcileWorkflow`; optional. */
export interface ReconcileInput {
  lookbackMs?: number;
  /** Only report. */
  dryRun?: boolean;
  /** The time zone of the report. Default: UTC. */
  timeZone?: string;
}

/** The memo of `reconcileWorkflow`, which lists show. */
export interface ReconciliationMemo {
  lookbackMs: number;
  dryRun: boolean;
}

/** The result of `reconcileWorkflow`. Timestamps are ISO 8601. */
export interface ReconciliationResult {
  from: string;
  to: string;
  /** The number of the partner's orders within the lookback. */
  orders: number;
  /** The order history could not be read completely, so the next scheduled run reads this time again. */
  hasGaps?: true;
  findings: Partial<Record<FindingKind, number>>;
  /** At most the first 200 findings. The report has all of them. */
  details: ReportedFinding[];
  repaired: number;
  /** The path of the HTML report on the worker that wrote it, or `not written: …` with the reason. */
  report: string;
}

/** The input of the activity. The times are fixed, so that every attempt looks back to the same time. */
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
  /** Compares the partner's orders with the purchases, repairs what it can, and writes the report. Safe to repeat. */
  reconcileOrders(input: ReconcileOrdersInput): Promise<ReconciliationResult>;
}
