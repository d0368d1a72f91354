import {
  ApplicationFailure,
  type Client,
  isGrpcDeadlineError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import type { DeliveryReport } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { DELIVER_WORKFLOW, deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import { commandsFor, indented } from '../contracts/operator-commands';
import type { PurchaseMemo, PurchaseResult } from '../contracts/purchase';
import { inOneLine, summaryOf } from '../domain/markdown';
import { endsWithoutKeys, eventTypeOf } from '../domain/outcome';
import { createPurchaseReader, rootCauseOf, startKeyDelivery } from '../temporal/client';
import { DeliveryOnItsWayError, NothingToRedeliverError, NotAnsweredError, RedeliveryFailedError } from './errors';

/** It quotes the partner, and reaches a terminal. */
const LONGEST_EXPLANATION = 600;

/** What the checkout has received again. */
export interface Redelivery {
  referenceId: string;
  workflowId: string;
  events: DeliveryReport['events'];
  /** Where keys were missing: the order as it was read; `issue` says why its keys were kept back. */
  order?: DeliveryReport['order'];
}

/**
 * Has a worker deliver what a purchase that has ended came to once more, under the same ids, and with it the keys that its
 * order has got since.
 *
 * @throws NothingToRedeliverError, DeliveryOnItsWayError, RedeliveryFailedError, NotAnsweredError; WorkflowNotFoundError for
 *   an unknown reference.
 */
export async function redeliver(
  client: Client,
  taskQueue: string,
  referenceId: string,
  answerWithinMs: number,
): Promise<Redelivery> {
  const { status, memo, workflowId, runId } = await createPurchaseReader(client).describe(referenceId);
  if (status.name === 'RUNNING') throw stillRunning(referenceId, (memo ?? {}) as PurchaseMemo);
  const result =
    status.name === 'COMPLETED'
      ? ((await client.workflow.getHandle(workflowId, runId).result()) as PurchaseResult)
      : undefined;
  const ended = result?.outcome ?? `as ${status.name}`;
  const handle =
    result && endsWithoutKeys(result.outcome)
      ? await repeatOutcome(client, taskQueue, result, runId)
      : await deliverKeys(client, taskQueue, referenceId);
  const { events, order } = await reportOf(client, handle, { referenceId, ended, answerWithinMs });
  return { referenceId, workflowId: handle.workflowId, events, order };
}

/** What is sent is found out by the workflow. */
async function deliverKeys(client: Client, taskQueue: string, referenceId: string): Promise<WorkflowHandle> {
  const summary = `all keys of ${referenceId}, again`;
  const start = await startKeyDelivery(client, taskQueue, { referenceId, deliver: 'all' }, { summary });
  if ('started' in start) return start.started;
  const workflowId = deliverWorkflowId({ referenceId });
  const answer = await lastAnswer(client.workflow.getHandle(workflowId));
  throw new DeliveryOnItsWayError(
    `A delivery of ${referenceId} is on its way already${answer}: workflow ${workflowId}. Nothing else was sent. ` +
      `It is tried for a day: node dist/starter.js status ${referenceId}`,
  );
}

/** An event without keys waits behind nobody, and two of one at once are one. */
async function repeatOutcome(
  client: Client,
  taskQueue: string,
  { referenceId, outcome, reason }: PurchaseResult,
  runId: string,
): Promise<WorkflowHandle> {
  const { sentEvents } = createPurchaseReader(client);
  const type = eventTypeOf(outcome);
  const events = await sentEvents({ workflowId: purchaseWorkflowId(referenceId), runId });
  const closing = events.findLast(({ request, received }) => request.type === type && received);
  if (!closing) {
    const why = reason ? ` (${reason})` : '';
    throw new NothingToRedeliverError(
      `Purchase ${referenceId} ended ${outcome}${why}; the checkout took no event of that, so there is none to repeat.`,
    );
  }
  return client.workflow.start(DELIVER_WORKFLOW, {
    workflowId: deliverWorkflowId({ eventId: closing.id }),
    taskQueue,
    args: [closing.request],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: summaryOf(`${type} of ${referenceId}, again`),
  });
}

function stillRunning(referenceId: string, { hold }: PurchaseMemo): NothingToRedeliverError {
  if (!hold) {
    return new NothingToRedeliverError(
      `Purchase ${referenceId} has not ended: it delivers by itself, again and again if need be. ` +
        `Where it stands: node dist/starter.js status ${referenceId}`,
    );
  }
  return new NothingToRedeliverError(
    `Purchase ${referenceId} is held for a person (${inOneLine(hold.explanation, LONGEST_EXPLANATION)}); ` +
      `decide instead:${indented(commandsFor(referenceId, hold.decisions))}`,
  );
}

async function reportOf(
  client: Client,
  handle: WorkflowHandle,
  { referenceId, ended, answerWithinMs }: { referenceId: string; ended: string; answerWithinMs: number },
): Promise<DeliveryReport> {
  const deadline = Date.now() + answerWithinMs;
  try {
    return (await client.withDeadline(deadline, () => handle.result())) as DeliveryReport;
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw failureOf(error, referenceId, ended);
    // A call that began a moment before the deadline ends with another code than one that was under way.
    if (!isGrpcDeadlineError(error) && Date.now() < deadline) throw error;
    throw new NotAnsweredError(
      `The delivery of ${referenceId} is on its way, but was not received within ${answerWithinMs / 1_000} s` +
        `${await lastAnswer(handle)}. It is tried for a day: node dist/starter.js status ${referenceId}`,
    );
  }
}

function failureOf(error: WorkflowFailedError, referenceId: string, ended: string): Error {
  const cause = rootCauseOf(error);
  if (cause instanceof ApplicationFailure && cause.type === FAILURE.nothingToDeliver) {
    return new NothingToRedeliverError(
      `Purchase ${referenceId} ended ${ended} and has nothing to send again: ${cause.message}. ` +
        `What became of it at the partner: node dist/starter.js orders --search ${referenceId}`,
    );
  }
  return new RedeliveryFailedError(`The delivery of ${referenceId} was not received: ${cause.message}`);
}

async function lastAnswer(handle: WorkflowHandle): Promise<string> {
  const { pendingActivities, pendingWorkflowTask } = (await handle.describe()).raw;
  const answer = pendingActivities?.find(({ lastFailure }) => lastFailure?.message)?.lastFailure?.message;
  if (answer) return ` (${answer})`;
  return pendingWorkflowTask ? ' (no worker has taken it: is one running?)' : '';
}
