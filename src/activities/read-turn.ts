import { activityInfo } from '@temporalio/activity';
import type { RequestTurn } from '../partner';
import { localSlotWait, slotWait } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';

/**
 * How an attempt that reads an order waits for its slot under `PARTNER_MAX_RPS`. A local one keeps a workflow task waiting, so it
 * goes on only where a slot is free at once.
 *
 * @param key names what is read, the same at each attempt.
 */
export function readTurn(
  { now }: Pick<ActivityDependencies, 'now'>,
  priority: RequestTurn['priority'],
  key: string,
): RequestTurn {
  const { isLocal, currentAttemptScheduledTimestampMs: due } = activityInfo();
  if (isLocal) return { priority, notAfter: now() + localSlotWait };
  return { priority, key, due, notAfter: now() + slotWait };
}
