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
import { detailsOf, escapeMarkdown, summaryOf } from '../domain/texts';
import { describeItems, itemsOnly, sameItems, sameMaxDebit, validatePurchase } from '../domain/purchase-rules';
import { createPurchaseReader, grpcErrorOf, throughServerTimeouts } from '../temporal/client';
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

/** A purchase that was started, or found because its reference was started before (`started: false`). */
export interface StartedPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  started: boolean;
}

/** What a checkout does with purchases. It needs Temporal and nothing else: no key of the partner. */
export interface Starter {
  /**
   * Starts the purchase of a sale, or finds it: the same reference is the same purchase, while it runs and after.
   *
   * @throws InvalidPurchaseError before anything is contacted.
   * @throws PurchaseDiffersError when the reference already stands for other items, or another `maxDebit`.
   */
  purchase(input: PurchaseInput): Promise<StartedPurchase>;
  /**
   * Waits for the end of a purchase, also through a reset of it, and through calls that Temporal finds no time for.
   *
   * @throws PurchaseNotFoundError
   * @throws PurchaseFailedError when it was terminated or never was a purchase; every business outcome is a result.
   */
  result(referenceId: string): Promise<PurchaseResult>;
  /** Where a purchase stands. Answered by the server alone, also when no worker runs. @throws PurchaseNotFoundError */
  status(referenceId: string): Promise<PurchaseStatus>;
  /**
   * Answers the hold that a purchase waits in, with a decision that fits it; the same one twice is one. Needs a running worker.
   *
   * @throws PurchaseNotFoundError, DecisionRefusedError, NotAnsweredError
   */
  resolve(referenceId: string, choice: DecisionChoice): Promise<Resolution>;
  /**
   * Has everything of a purchase that has ended delivered once more, as its order is now. Every key has the id that it had, so
   * repeating is harmless. Needs a running worker.
   *
   * @throws PurchaseNotFoundError, NothingToRedeliverError, RedeliveryFailedError, NotAnsweredError
   */
  redeliver(referenceId: string): Promise<Redelivery>;
  /**
   * Lists purchases in a state, or those that wait for a person. Answered by the server alone, about a second late.
   *
   * @throws StarterError for a state that there is none of; NotAnsweredError
   */
  list(filter?: ListFilter): Promise<PurchaseList>;
  /**
   * Asks a purchase to end where surely nothing was bought; else it is seen through. Safe to repeat. No worker has to run: the
   * next one that does heeds it.
   *
   * @throws PurchaseNotFoundError, NothingToCancelError
   */
  cancel(referenceId: string): Promise<Cancellation>;
}

export interface StarterOptions {
  taskQueue?: string | undefined;
  /** How long `resolve` and `redeliver` wait for a worker, and `list` and `cancel` for Temporal, in ms. Default 30,000. */
  answerWithinMs?: number | undefined;
  /**
   * A name for this checkout, of at most 64 bytes, where several share a namespace: its key for Temporal's fairness. A server that has
   * it switched on dispatches their waiting purchases in turn, so that the thousand of one don't stand before the one of another.
   */
  fairnessKey?: string | undefined;
}

/** The library of a TypeScript checkout. @param client a client of the namespace in which the worker runs. */
export function createStarter(client: Client, options: StarterOptions = {}): Starter {
  const { taskQueue = DEFAULT_TASK_QUEUE, answerWithinMs = answerTimeout, fairnessKey } = options;
  return {
    purchase: (input) => startOrFind(client, { taskQueue, fairnessKey }, input),
    result: (referenceId) => known(referenceId, resultOf(client, referenceId)),
    status: (referenceId) => known(referenceId, statusOf(client, referenceId)),
    resolve: (referenceId, choice) => known(referenceId, resolveHold(client, referenceId, choice, answerWithinMs)),
    redeliver: (referenceId) => known(referenceId, redeliver(client, referenceId, answerWithinMs)),
    list: (filter = {}) => listPurchases(client, filter, answerWithinMs),
    cancel: (referenceId) => known(referenceId, cancelPurchase(client, referenceId, answerWithinMs)),
  };
}

async function startOrFind(
  client: Client,
  { taskQueue, fairnessKey }: StarterOptions & { taskQueue: string },
  input: PurchaseInput,
): Promise<StartedPurchase> {
  const faults = validatePurchase(input);
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
  // The workflow writes them itself where they are absent, which costs the server a write more.
  const typedSearchAttributes = [
    { key: REFERENCE_ID, value: referenceId },
    { key: PURCHASE_STATE, value: 'PLACING' },
  ];
  try {
    const handle = await client.workflow
      .start(PURCHASE_WORKFLOW, { ...options, typedSearchAttributes })
      .catch((error: unknown) => {
        // A namespace that was not set up yet: the purchase waits there for a worker, which is started once it is.
        if (!grpcErrorOf(error)?.details.includes('search attribute')) throw error;
        return client.workflow.start(PURCHASE_WORKFLOW, options);
      });
    return { referenceId, workflowId, runId: handle.firstExecutionRunId, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { referenceId, workflowId, runId: await findSame(client, asked), started: false };
  }
}

/** What the Temporal UI shows of a purchase from the start to after its end. What the workflow shows beside it changes. */
function describeSale({ referenceId, items }: PurchaseInput): string {
  const lines = items.map(({ productId, quantity }) => `- ${quantity} × ${escapeMarkdown(summaryOf(productId))}`);
  const shown = lines.length > 20 ? [...lines.slice(0, 20), `- and ${lines.length - 20} more`] : lines;
  return detailsOf([
    `The purchase of sale **${escapeMarkdown(referenceId)}**:`,
    shown.join('\n'),
    'Where it stands:',
    ['```', statusCommand(referenceId), '```'].join('\n'),
  ]);
}

/** @returns the run of the purchase that this reference already has, if it is of the same items and may cost as much. */
async function findSame(client: Client, asked: PurchaseInput): Promise<string> {
  const { referenceId } = asked;
  const purchases = createPurchaseReader(client);
  const { workflowId, runId } = await purchases.describe(referenceId);
  const before = await purchases.startInput({ workflowId, runId });
  const faults = validatePurchase(before);
  if (faults.length > 0) {
    const what = `a start that was no purchase (${faults.join('; ')})`;
    throw new StarterError(`Reference ${referenceId} was used up by ${what}; use a new one.`);
  }
  const known = before as PurchaseInput;
  const isSame = sameItems(known.items, asked.items) && sameMaxDebit(known.maxDebit, asked.maxDebit);
  if (!isSame) throw new PurchaseDiffersError(referenceId, known, asked);
  return runId;
}

function resultOf(client: Client, referenceId: string): Promise<PurchaseResult> {
  const purchases = createPurchaseReader(client);
  return throughServerTimeouts(async () => {
    for (;;) {
      const { workflowId, runId } = await purchases.describe(referenceId);
      try {
        return (await client.workflow.getHandle(workflowId, runId).result()) as PurchaseResult;
      } catch (error) {
        if (!(error instanceof WorkflowFailedError)) throw error;
        const now = await purchases.describe(referenceId);
        // A reset ends one run and begins another: the purchase goes on.
        if (now.runId !== runId) continue;
        const why = error.cause?.message;
        throw new PurchaseFailedError(referenceId, `ended as ${now.status.name}${why ? ` (${why})` : ''}`);
      }
    }
  });
}

function known<T>(referenceId: string, answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw error instanceof WorkflowNotFoundError ? new PurchaseNotFoundError(referenceId) : error;
  });
}
