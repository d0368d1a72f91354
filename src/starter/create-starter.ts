import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { DEFAULT_TASK_QUEUE, PURCHASE_WORKFLOW, purchaseWorkflowId, STARTED_ONCE } from '../contracts/names';
import type { DecisionChoice, PurchaseInput, PurchaseResult } from '../contracts/public-types';
import { statusCommand } from '../contracts/operator-commands';
import { PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { escapeMarkdown, joinDetails, summaryOf } from '../domain/text-format';
import { describeItems, hasSameItems, hasSameMaxDebit, itemsOnly, validatePurchase } from '../domain/purchase-rules';
import { createPurchaseReader, grpcErrorOf, retryServerTimeouts } from '../temporal/client';
import { answerTimeout } from '../workflows/policies';
import {
  InvalidPurchaseError,
  PurchaseDiffersError,
  PurchaseFailedError,
  PurchaseNotFoundError,
  StarterError,
} from './errors';
import { type Cancellation, cancelPurchase } from './cancel';
import { type ListFilter, listPurchases, type PurchaseList } from './list';
import { type Redelivery, redeliver } from './redeliver';
import { type Resolution, resolveHold } from './resolve';
import { type PurchaseStatus, statusOf } from './status';
import { unknownFields } from './unknown-fields';

/** A purchase that was started now, or one that this reference already had (`started: false`). */
export interface StartedPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  started: boolean;
}

/** The library for a checkout. It needs Temporal and nothing else, not even the partner's key. */
export interface Starter {
  /**
   * Starts the purchase of a sale. Reusing a reference returns the existing purchase, even after it has ended.
   *
   * @throws InvalidPurchaseError before anything is contacted, for an unknown field, too.
   * @throws PurchaseDiffersError if the reference already belongs to other items or another `maxDebit`.
   */
  purchase(input: PurchaseInput): Promise<StartedPurchase>;
  /**
   * Waits for the end of a purchase. A reset of the purchase, or a call that times out at the server, does not end
   * the wait.
   *
   * @throws PurchaseNotFoundError
   * @throws PurchaseFailedError if it was terminated or its input was invalid; every business outcome is a result.
   */
  result(referenceId: string): Promise<PurchaseResult>;
  /** Reads where a purchase stands. The server answers, so no worker has to run. @throws PurchaseNotFoundError */
  status(referenceId: string): Promise<PurchaseStatus>;
  /**
   * Decides what happens to a held purchase. Repeating a decision is harmless. Needs a running worker.
   *
   * @throws PurchaseNotFoundError, DecisionRefusedError, NotAnsweredError
   */
  resolve(referenceId: string, choice: DecisionChoice): Promise<Resolution>;
  /**
   * Delivers everything of an ended purchase once more, as its order is now. Every key keeps its id, so repeating is
   * harmless. Needs a running worker.
   *
   * @throws PurchaseNotFoundError, NothingToRedeliverError, RedeliveryFailedError, NotAnsweredError
   */
  redeliver(referenceId: string): Promise<Redelivery>;
  /**
   * Lists the purchases in a state, or those that wait for a person. The server answers, about a second late.
   *
   * @throws StarterError for an unknown state; NotAnsweredError
   */
  list(filter?: ListFilter): Promise<PurchaseList>;
  /**
   * Ends a purchase if nothing can have been bought; otherwise its order is completed. Safe to repeat. No worker has
   * to run: the next one carries it out.
   *
   * @throws PurchaseNotFoundError, NothingToCancelError
   */
  cancel(referenceId: string): Promise<Cancellation>;
}

export interface StarterOptions {
  /**
   * The worker's `TEMPORAL_TASK_QUEUE`. Default `fulfilment`. On a wrong queue, purchases start and then wait for
   * ever: no worker sees them, and `status` shows `waitsForWorkerSince`.
   */
  taskQueue?: string | undefined;
  /**
   * How long `resolve` and `redeliver` wait for a worker, and `list` and `cancel` wait for Temporal, in ms. Default
   * 30,000.
   */
  answerWithinMs?: number | undefined;
  /**
   * The name of this checkout, at most 64 bytes, if several checkouts share a namespace: its key for Temporal's
   * fairness. If the server has fairness on, it serves the checkouts in turn, so that a thousand purchases of one do
   * not delay another.
   */
  fairnessKey?: string | undefined;
}

/** Creates the library for a checkout. @param client a client of the namespace in which the worker runs. */
export function createStarter(client: Client, options: StarterOptions = {}): Starter {
  const { taskQueue = DEFAULT_TASK_QUEUE, answerWithinMs = answerTimeout, fairnessKey } = options;
  return {
    purchase: (input) => startOrFind(client, { taskQueue, fairnessKey }, input),
    result: (referenceId) => translateNotFound(referenceId, resultOf(client, referenceId)),
    status: (referenceId) => translateNotFound(referenceId, statusOf(client, referenceId)),
    resolve: (referenceId, choice) =>
      translateNotFound(referenceId, resolveHold(client, referenceId, choice, answerWithinMs)),
    redeliver: (referenceId) => translateNotFound(referenceId, redeliver(client, referenceId, answerWithinMs)),
    list: (filter = {}) => listPurchases(client, filter, answerWithinMs),
    cancel: (referenceId) => translateNotFound(referenceId, cancelPurchase(client, referenceId, answerWithinMs)),
  };
}

async function startOrFind(
  client: Client,
  { taskQueue, fairnessKey }: StarterOptions & { taskQueue: string },
  input: PurchaseInput,
): Promise<StartedPurchase> {
  const faults = [...validatePurchase(input), ...unknownFields(input)];
  if (faults.length > 0) throw new InvalidPurchaseError(faults);
  const { referenceId, maxDebit } = input;
  const items = itemsOnly(input.items);
  const asked: PurchaseInput = { referenceId, items, maxDebit };
  const workflowId = purchaseWorkflowId(referenceId);
  const options = {
    workflowId,
    taskQueue,
    args: [asked],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    memo: { [STARTED_ONCE]: true },
    staticSummary: summaryOf(escapeMarkdown(describeItems(items))),
    staticDetails: describeSale(asked),
    priority: fairnessKey === undefined ? undefined : { fairnessKey },
  };
  // The workflow would write them itself, which costs the server one more write.
  const typedSearchAttributes = [
    { key: REFERENCE_ID, value: referenceId },
    { key: PURCHASE_STATE, value: 'PLACING' },
  ];
  try {
    const handle = await client.workflow
      .start(PURCHASE_WORKFLOW, { ...options, typedSearchAttributes })
      .catch((error: unknown) => {
        // The namespace is not set up yet. The purchase waits for a worker, which needs the set-up as well.
        if (!grpcErrorOf(error)?.details.includes('search attribute')) throw error;
        return client.workflow.start(PURCHASE_WORKFLOW, options);
      });
    return { referenceId, workflowId, runId: handle.firstExecutionRunId, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { referenceId, workflowId, runId: await findExisting(client, asked), started: false };
  }
}

/** The fixed details of a purchase in the Temporal UI. The workflow's own details change. */
function describeSale({ referenceId, items }: PurchaseInput): string {
  const lines = items.map(({ productId, quantity }) => `- ${quantity} × ${escapeMarkdown(summaryOf(productId))}`);
  const shown = lines.length > 20 ? [...lines.slice(0, 20), `- and ${lines.length - 20} more`] : lines;
  return joinDetails([
    `The purchase of sale **${escapeMarkdown(referenceId)}**:`,
    shown.join('\n'),
    'To see where it stands:',
    ['```', statusCommand(referenceId), '```'].join('\n'),
  ]);
}

/** @returns the run of the purchase that has this reference, if its items and its `maxDebit` are the same. */
async function findExisting(client: Client, asked: PurchaseInput): Promise<string> {
  const { referenceId } = asked;
  const purchases = createPurchaseReader(client);
  const { workflowId, runId } = await purchases.describe(referenceId);
  const before = await purchases.startInput({ workflowId, runId });
  const faults = validatePurchase(before);
  if (faults.length > 0) {
    const what = `a start with invalid input (${faults.join('; ')})`;
    throw new StarterError(`Reference ${referenceId} was used up by ${what}. Use a new one.`);
  }
  const known = before as PurchaseInput;
  const isSame = hasSameItems(known.items, asked.items) && hasSameMaxDebit(known.maxDebit, asked.maxDebit);
  if (!isSame) throw new PurchaseDiffersError(referenceId, known, asked);
  return runId;
}

function resultOf(client: Client, referenceId: string): Promise<PurchaseResult> {
  const purchases = createPurchaseReader(client);
  return retryServerTimeouts(async () => {
    for (;;) {
      const { workflowId, runId } = await purchases.describe(referenceId);
      try {
        return (await client.workflow.getHandle(workflowId, runId).result()) as PurchaseResult;
      } catch (error) {
        if (!(error instanceof WorkflowFailedError)) throw error;
        const now = await purchases.describe(referenceId);
        // A reset ends one run and starts another, so the purchase continues.
        if (now.runId !== runId) continue;
        const why = error.cause?.message;
        throw new PurchaseFailedError(referenceId, `ended as ${now.status.name}${why ? ` (${why})` : ''}`);
      }
    }
  });
}

function translateNotFound<T>(referenceId: string, answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw error instanceof WorkflowNotFoundError ? new PurchaseNotFoundError(referenceId) : error;
  });
}
