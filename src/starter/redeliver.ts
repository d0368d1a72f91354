import { type Client, isGrpcDeadlineError, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { DeliveryReport, OverduePurchase } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf, type LateDeliveryEvent } from '../contracts/checkout-events';
import { DELIVER_WORKFLOW, deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput, PurchaseMemo, PurchaseResult } from '../contracts/purchase';
import { eventTypeOf } from '../domain/outcome';
import { readStartInput, sentEvents } from '../temporal/client/history';
import { commandsFor } from './decisions';
import { NothingToRedeliverError, NotAnsweredError, RedeliveryFailedError } from './errors';

/** What the checkout has received again. */
export interface Redelivery {
  referenceId: string;
  workflowId: string;
  events: DeliveryReport['events'];
  /** With an overdue purchase: what the look at its order saw; `doubt` says why its keys were kept back. */
  order?: DeliveryReport['order'];
}

/** What was told to the checkout when a purchase ended. */
interface Told {
  eventId: string;
  request: DeliveryRequest;
  overdue?: OverduePurchase;
}

/**
 * Has a worker deliver the event of a purchase that has ended once more, under the same id. Two at once are one.
 *
 * @throws NothingToRedeliverError, RedeliveryFailedError, NotAnsweredError; WorkflowNotFoundError for an unknown reference.
 */
export async function redeliver(
  client: Client,
  taskQueue: string,
  referenceId: string,
  answerWithinMs: number,
): Promise<Redelivery> {
  const { eventId, request, overdue } = await toldByPurchase(client, referenceId);
  const workflowId = deliverWorkflowId(eventId);
  const handle = await client.workflow.start(DELIVER_WORKFLOW, {
    workflowId,
    taskQueue,
    args: overdue ? [request, overdue] : [request],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `${request.type} of ${referenceId}, again`,
  });
  const { events, order } = await reportOf(client, handle, { referenceId, eventId, answerWithinMs });
  return { referenceId, workflowId, events, ...(order && { order }) };
}

async function toldByPurchase(client: Client, referenceId: string): Promise<Told> {
  const workflowId = purchaseWorkflowId(referenceId);
  const handle = client.workflow.getHandle(workflowId);
  const { status, memo, runId } = await handle.describe();
  if (status.name === 'RUNNING') throw stillRunning(referenceId, (memo ?? {}) as PurchaseMemo);
  if (status.name !== 'COMPLETED') {
    throw new NothingToRedeliverError(
      `Purchase ${referenceId} ended as ${status.name} and told the checkout no outcome: there is nothing to send again. ` +
        `What became of it at the partner: node dist/starter.js orders --search ${referenceId}`,
    );
  }
  const result = (await handle.result()) as PurchaseResult;
  const type = eventTypeOf(result.outcome);
  const told = (await sentEvents(client, { workflowId, runId })).findLast(
    ({ request, receipt }) => request.type === type && receipt !== undefined,
  );
  if (!told?.receipt) {
    const why = result.reason ? ` (${result.reason})` : '';
    throw new NothingToRedeliverError(
      `Purchase ${referenceId} ended ${result.outcome}${why}; the checkout took no event of that, so there is none to repeat.`,
    );
  }
  const { request, receipt } = told;
  if (result.outcome !== 'OVERDUE') return { eventId: receipt.eventId, request };
  const { items } = (await readStartInput(client, { workflowId, runId })) as PurchaseInput;
  const earlier = await lateDeliveries(client, referenceId, deliverWorkflowId(receipt.eventId));
  return { eventId: receipt.eventId, request, overdue: { items, earlier } };
}

function stillRunning(referenceId: string, { hold }: PurchaseMemo): NothingToRedeliverError {
  if (!hold) {
    return new NothingToRedeliverError(
      `Purchase ${referenceId} has not ended: it delivers by itself, again and again if need be. ` +
        `Where it stands: node dist/starter.js status ${referenceId}`,
    );
  }
  const commands = commandsFor(referenceId, hold.decisions).join('\n');
  return new NothingToRedeliverError(
    `Purchase ${referenceId} is held for a person (${hold.explanation}); decide instead:\n${commands}`,
  );
}

/**
 * The late deliveries of a purchase so far, received or not: what was ever on its way may have arrived. The list of
 * workflows lags, so the one that `redeliver` itself starts is also asked for by its id.
 */
async function lateDeliveries(client: Client, referenceId: string, ownId: string): Promise<LateDeliveryEvent[]> {
  const query = `WorkflowType = '${DELIVER_WORKFLOW}' AND ReferenceId = '${referenceId}'`;
  const runs = new Map<string, { workflowId: string; runId: string }>();
  for await (const { workflowId, runId } of client.workflow.list({ query })) runs.set(runId, { workflowId, runId });
  const own = await client.workflow
    .getHandle(ownId)
    .describe()
    .catch(() => undefined);
  if (own) runs.set(own.runId, { workflowId: ownId, runId: own.runId });

  const found = new Map<string, LateDeliveryEvent>();
  for (const run of runs.values()) {
    for (const { request } of await sentEvents(client, run)) {
      if (request.type === 'purchase.late_delivery') found.set(fingerprintsOf(request).toSorted().join(), request);
    }
  }
  return [...found.values()].toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

async function reportOf(
  client: Client,
  handle: WorkflowHandle,
  { referenceId, eventId, answerWithinMs }: { referenceId: string; eventId: string; answerWithinMs: number },
): Promise<DeliveryReport> {
  const deadline = Date.now() + answerWithinMs;
  try {
    return (await client.withDeadline(deadline, () => handle.result())) as DeliveryReport;
  } catch (error) {
    if (error instanceof WorkflowFailedError) {
      throw new RedeliveryFailedError(`Event ${eventId} of ${referenceId} was not received: ${rootOf(error).message}`);
    }
    // A call that began a moment before the deadline ends with another code than one that was under way.
    if (!isGrpcDeadlineError(error) && Date.now() < deadline) throw error;
    throw new NotAnsweredError(
      `Event ${eventId} of ${referenceId} is on its way, but was not received within ${answerWithinMs / 1_000} s` +
        `${await lastAnswer(handle)}. It is tried for a day: node dist/starter.js status ${referenceId}`,
    );
  }
}

async function lastAnswer(handle: WorkflowHandle): Promise<string> {
  const { pendingActivities, pendingWorkflowTask } = (await handle.describe()).raw;
  const answer = pendingActivities?.[0]?.lastFailure?.message;
  if (answer) return ` (${answer})`;
  return pendingWorkflowTask ? ' (no worker has taken it: is one running?)' : '';
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
