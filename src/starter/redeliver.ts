import { type Client, isGrpcDeadlineError, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { DeliveryReport, OverduePurchase } from '../contracts/activities';
import type { DeliveryRequest, EventWithKeys } from '../contracts/checkout-events';
import { DELIVER_WORKFLOW, deliverWorkflowId } from '../contracts/names';
import type { PurchaseInput, PurchaseMemo, PurchaseResult } from '../contracts/purchase';
import { eventTypeOf } from '../domain/outcome';
import { createPurchaseReader, type PurchaseReader, rootCauseOf } from '../temporal/client';
import { commandsFor } from './decisions';
import { NothingToRedeliverError, NotAnsweredError, RedeliveryFailedError } from './errors';

/** What the checkout has received again. */
export interface Redelivery {
  referenceId: string;
  workflowId: string;
  events: DeliveryReport['events'];
  /** With an overdue purchase: its order as it was read; `issue` says why its keys were kept back. */
  order?: DeliveryReport['order'];
}

/** The event that the checkout got when a purchase ended. */
interface ClosingEvent {
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
  const { eventId, request, overdue } = await closingEventOf(client, referenceId);
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
  return { referenceId, workflowId, events, order };
}

async function closingEventOf(client: Client, referenceId: string): Promise<ClosingEvent> {
  const purchases = createPurchaseReader(client);
  const { status, memo, workflowId, runId } = await purchases.describe(referenceId);
  if (status.name === 'RUNNING') throw stillRunning(referenceId, (memo ?? {}) as PurchaseMemo);
  if (status.name !== 'COMPLETED') {
    throw new NothingToRedeliverError(
      `Purchase ${referenceId} ended as ${status.name} and sent the checkout no outcome: there is nothing to send again. ` +
        `What became of it at the partner: node dist/starter.js orders --search ${referenceId}`,
    );
  }
  const result = (await client.workflow.getHandle(workflowId, runId).result()) as PurchaseResult;
  const type = eventTypeOf(result.outcome);
  const events = await purchases.sentEvents({ workflowId, runId });
  const closing = events.findLast(({ request, received }) => request.type === type && received);
  if (!closing) {
    const why = result.reason ? ` (${result.reason})` : '';
    throw new NothingToRedeliverError(
      `Purchase ${referenceId} ended ${result.outcome}${why}; the checkout took no event of that, so there is none to repeat.`,
    );
  }
  const { id: eventId, request } = closing;
  if (result.outcome !== 'OVERDUE') return { eventId, request };
  const { items } = (await purchases.startInput({ workflowId, runId })) as PurchaseInput;
  return { eventId, request, overdue: { items, earlier: await earlierKeyEvents(purchases, result, eventId) } };
}

/**
 * What any run of the purchase or any delivery after it handed over of the order, received or not: what was ever sent may
 * have arrived. The list of runs lags, so the delivery that `redeliver` itself starts is also looked up by its id.
 */
async function earlierKeyEvents(
  purchases: PurchaseReader,
  { referenceId, orderId }: PurchaseResult,
  eventId: string,
): Promise<EventWithKeys[]> {
  const before = await purchases.latestDelivery(eventId);
  const events = await purchases.keyEvents(referenceId, { also: before ? [before] : [] });
  return events.map(({ request }) => request).filter((request) => request.orderId === orderId);
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
      throw new RedeliveryFailedError(
        `Event ${eventId} of ${referenceId} was not received: ${rootCauseOf(error).message}`,
      );
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
