import type { Client } from '@temporalio/client';
import type { Metrics } from '../contracts/record-metrics';
import type { PurchaseSettings } from '../contracts/purchase';
import type { Delivery, Fingerprinter } from '../delivery';
import type { PartnerClient } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import type { Brake } from './brake';

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
  /** Of the same task queue. */
  brake: Brake;
  /** Epoch ms. */
  now(): number;
}
