import type { WorkflowHandle } from '@temporalio/client';
import { purchaseWorkflowId } from '../../src/contracts/names';
import type { TestEnvironment } from './test-environment';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

export async function eventsOf({ client }: Pick<TestEnvironment, 'client'>, workflowId: string): Promise<Event[]> {
  return (await client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
}

/** @returns the number of events in a purchase's history, and its activities in order, as the Temporal UI names them */
export async function historyOf(
  env: Pick<TestEnvironment, 'client'>,
  referenceId: string,
): Promise<{ length: number; activities: string[] }> {
  const all = await eventsOf(env, purchaseWorkflowId(referenceId));
  const activities = all.flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled, markerRecordedEventAttributes: marker }) => {
      const data = marker?.details?.data?.payloads?.[0]?.data;
      if (!data) return scheduled?.activityType?.name ?? [];
      const { activity_type: name } = JSON.parse(Buffer.from(data).toString('utf8')) as { activity_type: string };
      return `local ${name}`;
    },
  );
  return { length: all.length, activities };
}

/** @returns all activities, local activities and timers of a workflow, with their summaries in the Temporal UI */
export async function summariesOf(
  env: Pick<TestEnvironment, 'client'>,
  workflowId: string,
): Promise<{ event: string; summary?: string }[]> {
  return (await eventsOf(env, workflowId)).flatMap((event) => {
    const { activityTaskScheduledEventAttributes: activity, timerStartedEventAttributes: timer, userMetadata } = event;
    const marker = event.markerRecordedEventAttributes?.markerName;
    const name = activity?.activityType?.name ?? (timer ? 'timer' : marker);
    const data = userMetadata?.summary?.data;
    const summary = data ? (JSON.parse(Buffer.from(data).toString('utf8')) as string) : undefined;
    return name ? [{ event: `${String(event.eventId)} ${name}`, summary }] : [];
  });
}

/** @returns for each placement that ended without a response, whether it had recorded its intention */
export function intentionsOfTimedOut(events: readonly Event[]): boolean[] {
  const isPlacement = (id: unknown) =>
    events.find(({ eventId }) => String(eventId) === String(id))?.activityTaskScheduledEventAttributes?.activityType
      ?.name === 'placeOrder';
  return events.flatMap(({ activityTaskTimedOutEventAttributes: timedOut }) => {
    if (!timedOut || !isPlacement(timedOut.scheduledEventId)) return [];
    return [Boolean(timedOut.failure?.timeoutFailureInfo?.lastHeartbeatDetails?.payloads?.length)];
  });
}
