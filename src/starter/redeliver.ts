import {
  ApplicationFailure,
  type Client,
  isGrpcDeadlineError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId } from '../contracts/names';
import { commandsFor, indented, searchCommand } from '../contracts/operator-commands';
import type { DeliveryResult, Hold } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { PURCHASE_STATE } from '../contracts/search-attributes';
import { toSingleLine } from '../domain/text-format';
import { blocksDeliveries, createPurchaseReader, pendingFailure, rootCauseOf, startDelivery } from '../temporal/client';
import { NothingToRedeliverError, NoResponseError, RedeliveryFailedError } from './errors';

/** Explanations may quote the partner, and terminals show them. */
const MAX_EXPLANATION_LENGTH = 600;

const DESCRIBE_WITHIN_MS = 3_000;

/** The result of a redelivery. */
export interface Redelivery {
  referenceId: string;
  workflowId: string;
  /** The events that the checkout received. */
  events: DeliveryResult['events'];
  /** The order as it was read. `issue` says why its keys were withheld. Absent if the order was not read. */
  order?: DeliveryResult['order'] | undefined;
}

/**
 * @throws NothingToRedeliverError, RedeliveryFailedError, NoResponseError, WorkflowNotFoundError
 * @internal
 */
export async function redeliver(client: Client, referenceId: string, deadline: number): Promise<Redelivery> {
  const purchases = createPurchaseReader(client);
  const { status, memo, taskQueue, typedSearchAttributes } = await purchases.describe(referenceId);
  if (status.name === 'RUNNING') throw stillRunning(referenceId, holdIn(memo));
  const last = await purchases.describeDeliveryIfKnown(referenceId);
  const issue = last && blocksDeliveries(last);
  if (issue !== undefined) throw new RedeliveryFailedError(referenceId, `Nothing was delivered: ${issue}`);
  const ended = (status.name === 'COMPLETED' && typedSearchAttributes.get(PURCHASE_STATE)) || `as ${status.name}`;
  const deliver = async () => {
    const handle = await startDelivery(client, taskQueue, { referenceId, again: true }, `all of ${referenceId}, again`);
    try {
      return (await handle.result()) as DeliveryResult;
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw failureOf(error, referenceId, ended);
      // A call that starts just before the deadline fails with another code.
      if (!isGrpcDeadlineError(error) && Date.now() < deadline) throw error;
      throw new NoResponseError(
        `The delivery of ${referenceId} has started and continues, but ${await formatProgress(client, handle)}.`,
        { referenceId },
      );
    }
  };
  const report = await deliver();
  // This call joined a delivery of the reconciliation, which sends only new keys.
  const wasAnother = report.events.length === 0 && report.order?.issue === undefined;
  const { events, order } = wasAnother ? await deliver() : report;
  return { referenceId, workflowId: deliverWorkflowId(referenceId), events, order };
}

function stillRunning(referenceId: string, hold?: Hold): NothingToRedeliverError {
  const reason = hold
    ? `is held (${toSingleLine(hold.explanation, MAX_EXPLANATION_LENGTH)}). ` +
      `Decide instead:${indented(commandsFor(referenceId, hold))}`
    : 'is still running. It delivers by itself, and retries if necessary.';
  return new NothingToRedeliverError(referenceId, `Purchase ${referenceId} ${reason}`);
}

function failureOf(error: WorkflowFailedError, referenceId: string, ended: string): Error {
  const cause = rootCauseOf(error);
  if (cause instanceof ApplicationFailure && cause.type === FAILURE.nothingToDeliver) {
    return new NothingToRedeliverError(
      referenceId,
      `Purchase ${referenceId} ended ${ended} and has nothing to send again: ${cause.message}. ` +
        `To see its orders at the partner: ${searchCommand(referenceId)}`,
    );
  }
  return new RedeliveryFailedError(referenceId, `The delivery of ${referenceId} failed: ${cause.message}`);
}

/** What is known about a delivery that has not finished in time. */
async function formatProgress(client: Client, handle: WorkflowHandle): Promise<string> {
  const describe = () => client.withDeadline(Date.now() + DESCRIBE_WITHIN_MS, () => handle.describe());
  const description = await describe().catch(() => undefined);
  const failed = pendingFailure(description);
  if (!failed) return description?.raw.pendingWorkflowTask ? 'no worker has picked it up' : 'it did not end in time';
  // The order is read at the partner first, so not every failure is the checkout's.
  const isOfCheckout = failed.type === FAILURE.deliveryFailed;
  return `${isOfCheckout ? 'the checkout did not accept it' : 'it did not end'} in time (${failed.message})`;
}
