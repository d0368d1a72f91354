import type { Client } from '@temporalio/client';
import type { Metrics } from '../contracts/metrics';
import type { PurchaseSettings } from '../contracts/purchase';
import type { Delivery, Fingerprinter } from '../delivery';
import type { PartnerClient } from '../partner';
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
