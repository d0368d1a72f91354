import { activityInfo } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Metrics } from '../contracts/metrics';
import type { PurchaseSettings } from '../contracts/purchase';
import type { EventSender, Fingerprinter } from '../delivery';
import { REFERENCE_PATTERN } from '../domain/order';
import type { PartnerClient, PermitRequest } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import type { CircuitBreaker } from './circuit-breaker';
import type { HistoryWatch } from './history-watch';

/** What the activities need. Tests replace parts of it. */
export interface ActivityDependencies {
  /** For the worker's own namespace. */
  client: Client;
  partner: PartnerClient;
  eventSender: EventSender;
  fingerprints: Fingerprinter;
  settings: PurchaseSettings;
  /** For the worker's own namespace. */
  purchases: PurchaseReader;
  metrics: Metrics;
  /** Shared by all placements of the process. */
  circuitBreaker: CircuitBreaker;
  /** Shared by all polls of the process. */
  historyWatch: HistoryWatch;
  /** Epoch ms. */
  now(): number;
}

/** A server may read its clock twice during one dispatch, so timestamps this close count as the same dispatch. */
const ONE_DISPATCH_MS = 5;

/** Whether the current activity was dispatched before. If an operator resets it, its attempts are counted anew. */
export function wasDispatchedBefore(): boolean {
  const { attempt, currentAttemptScheduledTimestampMs: dispatchedAt, scheduledTimestampMs } = activityInfo();
  return attempt > 1 || dispatchedAt - scheduledTimestampMs > ONE_DISPATCH_MS;
}

/** How long an attempt waits for its permit. It is short, because a waiting attempt occupies a worker slot. */
const PERMIT_WAIT_MS = 8_000;
/** A local activity blocks a workflow task, so it needs its permit almost at once. */
const LOCAL_PERMIT_WAIT_MS = 50;

/** The run that the current activity belongs to. Undefined if a client started the activity alone. */
export function ownRunId(): string | undefined {
  return activityInfo().workflowExecution?.runId;
}

/**
 * The permits that the current attempt asks for under `PARTNER_MAX_RPS`.
 * @param waitMs how long an ordinary activity waits for them
 */
export function readPermits(
  { now }: ActivityDependencies,
  permitClass: PermitRequest['class'],
  waitMs = PERMIT_WAIT_MS,
): PermitRequest {
  const { isLocal, currentAttemptScheduledTimestampMs: dueAt } = activityInfo();
  if (isLocal) return { class: permitClass, notAfter: now() + LOCAL_PERMIT_WAIT_MS };
  return { class: permitClass, dueAt, notAfter: now() + waitMs };
}

/**
 * @param referenceId may be invalid, because it may come from the partner.
 * @returns undefined for an unknown purchase
 */
export async function describeIfValid(
  purchases: PurchaseReader,
  referenceId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  return REFERENCE_PATTERN.test(referenceId) ? purchases.describeIfKnown(referenceId) : undefined;
}
