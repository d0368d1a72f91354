import { activityInfo } from '@temporalio/activity';
import type { RequestTurn } from '../partner';
import { slotWait } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';

/**
 * How an attempt that reads an order waits for its slot under `PARTNER_MAX_RPS`.
 *
 * @param key names what is read, the same at each attempt.
 */
export function readTurn(
  { now }: Pick<ActivityDependencies, 'now'>,
  priority: RequestTurn['priority'],
  key: string,
): RequestTurn {
  return { priority, key, due: activityInfo().currentAttemptScheduledTimestampMs, notAfter: now() + slotWait };
}
