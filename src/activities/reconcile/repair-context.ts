import type { Client } from '@temporalio/client';
import type { ReadRetry } from '../../partner/index';
import type { ActivityDependencies } from '../dependencies';
import type { NoticeContext } from './notices';

/** What repairs need. */
export interface RepairContext
  extends NoticeContext, Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases'> {
  client: Client;
  retry: ReadRetry;
  /** Read what would be delivered, and do nothing. */
  dryRun: boolean;
}
