import type { Client } from '@temporalio/client';
import { KEEP_WATCHING_SIGNAL, WATCH_WORKFLOW, watchWorkflowId } from '../../contracts/names';

const ANSWER_WITHIN_MS = 5_000;

/**
 * Makes sure that the watcher of a task queue runs and goes on for a while. A signal, so that one that is just ending does not
 * end: the server refuses the end of a workflow that has not seen its last signal.
 *
 * @throws ServiceError when the server can't be asked within 5 s.
 */
export async function keepWatching(client: Client, taskQueue: string): Promise<void> {
  await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    client.workflow.signalWithStart(WATCH_WORKFLOW, {
      workflowId: watchWorkflowId(taskQueue),
      taskQueue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      signal: KEEP_WATCHING_SIGNAL,
      // Behind a burst of new purchases its next run began half a minute later, and nobody was woken meanwhile (run).
      priority: { priorityKey: 1 },
      staticSummary: 'reads the order history for all purchases that wait',
    }),
  );
}
