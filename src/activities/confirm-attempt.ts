import { activityInfo } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from '@temporalio/client';
import { errorName } from '../domain/safe-values';
import type { ActivityDependencies } from './dependencies';

/** How long the server may take to respond. If it takes longer, the attempt sends nothing. */
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Asks the server, with a heartbeat, whether the current attempt still counts. A process that was frozen does not know
 * that its attempt has timed out, and that another one may have ended the activity.
 *
 * @param details are on record when this returns
 * @param meanwhile another request to the server, whose response must be as recent
 * @returns why the attempt must send nothing; undefined if it may go on
 */
export async function refusalOf(
  { client, now }: Pick<ActivityDependencies, 'client' | 'now'>,
  { details, meanwhile }: { details?: object; meanwhile?: () => Promise<unknown> } = {},
): Promise<string | undefined> {
  const { taskToken } = activityInfo();
  const calledAt = now();
  try {
    const heartbeat = client.withDeadline(calledAt + RESPONSE_TIMEOUT_MS, () =>
      client.activity.heartbeat(taskToken, details),
    );
    await Promise.all([heartbeat, meanwhile?.()]);
  } catch (error) {
    return reasonOf(error);
  }
  // The process may have been frozen, or too busy to notice the deadline.
  return now() - calledAt > RESPONSE_TIMEOUT_MS ? 'Temporal responded too late' : undefined;
}

function reasonOf(error: unknown): string {
  if (error instanceof ActivityPausedError) return 'the attempt was paused';
  if (error instanceof ActivityResetError) return 'the attempt was reset';
  if (error instanceof ActivityCancelledError) return 'the attempt was cancelled';
  if (error instanceof ActivityNotFoundError) return 'Temporal has given up on the attempt';
  return `Temporal did not respond (${errorName(error)})`;
}
