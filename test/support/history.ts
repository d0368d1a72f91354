import { purchaseWorkflowId } from '../../src/contracts/names';
import type { TestEnvironment } from './test-environment';

/** @returns how many events the history of a purchase has, and its activities in their order, as the Temporal UI names them */
export async function historyOf(
  { client }: Pick<TestEnvironment, 'client'>,
  referenceId: string,
): Promise<{ length: number; activities: string[] }> {
  const { events } = await client.workflow.getHandle(purchaseWorkflowId(referenceId)).fetchHistory();
  const all = events ?? [];
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
