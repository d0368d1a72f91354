import { activityInfo } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Metrics } from '../contracts/metrics';
import type { PurchaseSettings } from '../contracts/purchase';
import type { Delivery, Fingerprinter } from '../delivery';
import type { PartnerClient, PermitRequest } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import type { CircuitBreaker } from './circuit-breaker';
import type { HistoryWatch } from './history-watch';

/** What the activities work with. Everything that tests replace comes in here. */
export interface ActivityDependencies {
  /** Of the namespace in which the worker runs. */
  client: Client;
  partner: PartnerClient;
  delivery: Delivery;
  fingerprints: Fingerprinter;
  settings: PurchaseSettings;
  /** Of the same namespace. */
  purchases: PurchaseReader;
  metrics: Metrics;
  /** One for all placements of the process. */
  circuitBreaker: CircuitBreaker;
  /** One for all polls of the process. */
  historyWatch: HistoryWatch;
  /** Epoch ms. */
  now(): number;
}

/** How long an attempt that reads an order waits for its permit: a waiting attempt occupies a slot of the worker. */
const PERMIT_WAIT_MS = 8_000;
/** A local activity keeps a workflow task waiting, so it goes on only if a permit is free at once. */
const LOCAL_PERMIT_WAIT_MS = 50;

/** How the current attempt waits for its permits under `PARTNER_MAX_RPS`. */
export function readPermits({ now }: ActivityDependencies, permitClass: PermitRequest['class']): PermitRequest {
  const { isLocal, currentAttemptScheduledTimestampMs: dueAt } = activityInfo();
  if (isLocal) return { class: permitClass, notAfter: now() + LOCAL_PERMIT_WAIT_MS };
  return { class: permitClass, dueAt, notAfter: now() + PERMIT_WAIT_MS };
}
