import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

type Answer = Parameters<Client['workflowService']['respondWorkflowTaskCompleted']>[0];
export type WorkflowCommand = NonNullable<Answer['commands']>[number];

/** Command types of the Temporal API. */
const SCHEDULE_ACTIVITY = 1;
const COMPLETE_WORKFLOW = 4;
const UPSERT_SEARCH_ATTRIBUTES = 13;

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });

/** Answers the next workflow task of a queue without a worker, which makes a history without workflow code. */
export async function answerWorkflowTask(client: Client, taskQueue: string, command: WorkflowCommand): Promise<void> {
  const { namespace } = client.options;
  const poll = { namespace, taskQueue: { name: taskQueue } };
  const { taskToken } = await client.withDeadline(Date.now() + 30_000, () =>
    client.workflowService.pollWorkflowTaskQueue(poll),
  );
  await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands: [command] });
}

export function completeWorkflow(result: unknown): WorkflowCommand {
  return {
    commandType: COMPLETE_WORKFLOW,
    completeWorkflowExecutionCommandAttributes: { result: payloads(result) },
  };
}

/** Sets search attributes, as only the code of a workflow can. @param attributes keywords by name */
export function upsertSearchAttributes(attributes: Record<string, string>): WorkflowCommand {
  const indexedFields = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, defaultPayloadConverter.toPayload(value)]),
  );
  return {
    commandType: UPSERT_SEARCH_ATTRIBUTES,
    upsertWorkflowSearchAttributesCommandAttributes: { searchAttributes: { indexedFields } },
  };
}

/** Schedules an activity on another task queue, as any workflow can. */
export function scheduleActivity(name: string, taskQueue: string, input: unknown): WorkflowCommand {
  return {
    commandType: SCHEDULE_ACTIVITY,
    scheduleActivityTaskCommandAttributes: {
      activityId: name,
      activityType: { name },
      taskQueue: { name: taskQueue },
      input: payloads(input),
      startToCloseTimeout: { seconds: 10 as never },
      scheduleToCloseTimeout: { seconds: 30 as never },
    },
  };
}
