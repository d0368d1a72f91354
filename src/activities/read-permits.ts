import { activityInfo } from '@temporalio/activity';
import type { PermitRequest } from '../partner';
import type { ActivityDependencies } from './dependencies';

/** How long an attempt that reads an order waits for its permit: a waiting attempt occupies a slot of the worker. */
const PERMIT_WAIT_MS = 8_000;
/** A local activity keeps a workflow task waiting, so it goes on only if a permit is free at once. */
const LOCAL_PERMIT_WAIT_MS = 50;

/** How the current attempt waits for its permits under `PARTNER_MAX_RPS`. */
export function readPermits(
  { now }: Pick<ActivityDependencies, 'now'>,
  permitClass: PermitRequest['class'],
): PermitRequest {
  const { isLocal, currentAttemptScheduledTimestampMs: dueAt } = activityInfo();
  if (isLocal) return { class: permitClass, notAfter: now() + LOCAL_PERMIT_WAIT_MS };
  return { class: permitClass, dueAt, notAfter: now() + PERMIT_WAIT_MS };
}
