import type { Client } from '@temporalio/client';
import type { Activities } from '../../contracts/activities';
import type { PartnerClient } from '../../partner/index';
import type { PurchaseReader } from '../../temporal/client';

/** What repairs need. */
export interface RepairContext {
  client: Client;
  taskQueue: string;
  partner: PartnerClient;
  purchases: PurchaseReader;
  getOrder: Activities['getOrder'];
  signal: AbortSignal;
  /** The run of the reconciliation. */
  runId: string;
  /** Read what would be handed over, and do nothing. */
  dryRun: boolean;
  /** Epoch ms. */
  now(): number;
}
