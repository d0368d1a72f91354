import type { Client } from '@temporalio/client';
import type { ReadRetry } from '../../partner/index';
import type { ActivityDependencies } from '../dependencies';

/** What repairs need. */
export interface RepairContext extends Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases' | 'now'> {
  client: Client;
  taskQueue: string;
  signal: AbortSignal;
  retry: ReadRetry;
  /** The run of the reconciliation. */
  runId: string;
  /** Read what would be handed over, and do nothing. */
  dryRun: boolean;
}
