import type { BrakeReason, FailedPlacement, PlacementSign } from '../domain/brake';

/** What a worker reports to the brake of its task queue: its latest placements, oldest first. */
export interface ReportedPlacement {
  referenceId: string;
  sign: PlacementSign;
}

/** What everybody may know of a closed brake. It stands in the memo of `brakeWorkflow`, as `brake`: null where it is open. */
export interface ClosedBrake {
  reason: BrakeReason;
  /** Epoch ms. */
  since: number;
  /** Epoch ms: a brake of which nothing is heard any more, whatever stopped it, counts as open from then on. */
  until: number;
  /** The one purchase that may be placed all the same. */
  letThrough?: string;
}

/** What a brake remembers when it continues as new. */
export interface BrakeState {
  row: FailedPlacement[];
  closed?: ClosedBrake;
  /** How often it was closed: each time is another event for the checkout. */
  closures: number;
  /** How many purchases that were let through failed since it was closed. */
  failures: number;
  /** The purchases that closed it and those that were let through, the latest last: others come first. */
  tried: string[];
  /** Epoch ms: when somebody was last found to wait since it closed, or the partner could not be read. */
  lastWaiting?: number;
  /** It has opened, and not all who wait were woken yet. */
  waking?: boolean;
  /** What the checkout does not know yet, oldest first. */
  notices: PurchasingNotice[];
}

export interface NextPausedInput {
  /** Read the partner first: only where it can be read anybody is let through. */
  probe: boolean;
  tried: string[];
}

/** The purchase that may be let through next. */
export interface NextPaused {
  /** Why nobody may, in safe words. */
  why?: string;
  /** Absent where nobody waits. */
  referenceId?: string;
}

export interface PurchasingNotice {
  type: 'purchasing.paused' | 'purchasing.resumed';
  /** ISO 8601: when it happened. */
  at: string;
  kind: BrakeReason;
  reason: string;
  details: Record<string, string>;
  deduplicationKey: string;
}

/** The activities of `brakeWorkflow`. */
export interface BrakeActivities {
  /** Finds a purchase to let through: of those that wait one of the newest, which has the most time left. It buys nothing. */
  nextPaused(input: NextPausedInput): Promise<NextPaused>;
  /** Wakes all purchases that wait, some each second, until the brake is closed again. */
  wakePaused(): Promise<{ woken: number }>;
  /** Has the checkout notified by a `deliverWorkflow`. */
  notifyPurchasing(notice: PurchasingNotice): Promise<void>;
}
