import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

type Answer = Parameters<Client['workflowService']['respondWorkflowTaskCompleted']>[0];
export type WorkflowCommand = NonNullable<Answer['commands']>[number];

/** Of the server's command types. */
const COMPLETE_WORKFLOW = 4;

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });

/** Takes the next workflow task of a queue that no worker polls, and answers it: a history that takes no workflow code. */
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
