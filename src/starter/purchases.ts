import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { DEFAULT_TASK_QUEUE, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput, PurchaseResult } from '../contracts/purchase';
import { faultsOfPurchase, sameItems } from '../domain/purchase-rules';
import { InvalidPurchaseError, PurchaseDiffersError, PurchaseNotFoundError } from './errors';
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
   * @throws PurchaseDiffersError when the reference already stands for other items.
   */
  purchase(input: PurchaseInput): Promise<StartedPurchase>;
  /**
   * Waits for the end of a purchase.
   *
   * @throws PurchaseNotFoundError
   * @throws WorkflowFailedError when it was terminated or is a bug; every business outcome is a result.
   */
  result(referenceId: string): Promise<PurchaseResult>;
  /** Where a purchase stands. Answered by the server alone, also when no worker runs. @throws PurchaseNotFoundError */
  status(referenceId: string): Promise<PurchaseStatus>;
}

/**
 * The library of a TypeScript checkout.
 *
 * @param client a client of the namespace in which the worker runs.
 */
export function createStarter(client: Client, options: { taskQueue?: string } = {}): Starter {
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  return {
    purchase: (input) => startOrFind(client, taskQueue, input),
    result: (referenceId) =>
      known(
        referenceId,
        () => client.workflow.getHandle(purchaseWorkflowId(referenceId)).result() as Promise<PurchaseResult>,
      ),
    status: (referenceId) => known(referenceId, () => statusOf(client, referenceId)),
  };
}

async function startOrFind(client: Client, taskQueue: string, input: PurchaseInput): Promise<StartedPurchase> {
  const faults = faultsOfPurchase(input);
  if (faults.length > 0) throw new InvalidPurchaseError(faults);
  const { referenceId } = input;
  const items = input.items.map(({ productId, quantity }) => ({ productId, quantity }));
  const workflowId = purchaseWorkflowId(referenceId);
  try {
    const handle = await client.workflow.start(PURCHASE_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [{ referenceId, items } satisfies PurchaseInput],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: summaryOf({ referenceId, items }),
    });
    return { referenceId, workflowId, runId: handle.firstExecutionRunId, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const before = await startedWith(client, workflowId);
    if (!sameItems(before.input.items, items)) throw new PurchaseDiffersError(referenceId, before.input.items, items);
    return { referenceId, workflowId, runId: before.runId, started: false };
  }
}

/** Reads with what a purchase was started from the first event of its history, whoever started it. */
async function startedWith(client: Client, workflowId: string): Promise<{ input: PurchaseInput; runId: string }> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return { input: input as PurchaseInput, runId };
}

/** The one line that a list in the UI shows beside the workflow id. */
function summaryOf(input: PurchaseInput): string {
  const [first, ...more] = input.items;
  const words = first ? `${first.quantity} × ${first.productId}` : '';
  return more.length > 0 ? `${words} and ${more.length} more` : words;
}

async function known<T>(referenceId: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new PurchaseNotFoundError(referenceId);
    throw error;
  }
}
