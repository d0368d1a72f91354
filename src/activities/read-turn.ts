import { activityInfo } from '@temporalio/activity';
import type { PermitRequest } from '../partner';
import { localSlotWait, slotWait } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';

/**
 * How an attempt that reads an order waits for its permit under `PARTNER_MAX_RPS`. A local one keeps a workflow task waiting, so
 * it goes on only if a permit is free at once.
 */
export function readTurn(
  { now }: Pick<ActivityDependencies, 'now'>,
  permitClass: PermitRequest['class'],
): PermitRequest {
  const { isLocal, currentAttemptScheduledTimestampMs: dueAt } = activityInfo();
  if (isLocal) return { class: permitClass, notAfter: now() + localSlotWait };
  return { class: permitClass, dueAt, notAfter: now() + slotWait };
}
