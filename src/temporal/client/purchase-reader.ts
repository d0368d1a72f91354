import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { DELIVER_WORKFLOW, deliverWorkflowId, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../../contracts/names';
import { anyOf } from '../../contracts/purchase-queries';
import { createOrderOwners } from './order-owners';
import { readRecordedOrderId, readRecordedSecretId, readSentEvents, readStartInput, type Run } from './run-history';

/** The memo that a purchase or a late delivery wrote when it completed. */
export interface ClosingMemo {
  isPurchase: boolean;
  memo: Record<string, unknown> | undefined;
}

/** Reads purchases and their late deliveries from Temporal. It changes nothing and doesn't need a running worker. */
export type PurchaseReader = ReturnType<typeof createPurchaseReader>;

/** @param client for the namespace of the purchases */
export function createPurchaseReader(client: Client) {
  const list = (type: string, query: string): AsyncIterable<WorkflowExecutionInfo> =>
    client.workflow.list({ query: `WorkflowType = '${type}' AND ${query}` });
  return {
    ...createOrderOwners(client),
    /**
     * The server's own record of the latest run of a purchase.
     * @throws WorkflowNotFoundError
     */
    describe: (referenceId: string) => client.workflow.getHandle(purchaseWorkflowId(referenceId)).describe(),
    /** Like `describe`, but undefined if the server does not know the purchase. */
    describeIfKnown: (referenceId: string) => describeIfKnown(client, purchaseWorkflowId(referenceId)),
    /** The latest late delivery of a purchase; undefined if the server knows none. */
    describeDeliveryIfKnown: (referenceId: string) => describeIfKnown(client, deliverWorkflowId(referenceId)),
    /**
     * Lists purchases. Lists lag.
     * @param query further conditions, as a Temporal list filter
     */
    list: (query: string) => list(PURCHASE_WORKFLOW, query),
    /** Lists late deliveries, like `list`. */
    listDeliveries: (query: string) => list(DELIVER_WORKFLOW, query),
    /** The closing memos of all runs and late deliveries of a purchase. Some may appear twice. */
    closingMemos: (referenceId: string) => closingMemos(client, referenceId),
    /** The types of the events that late deliveries sent before they failed or were stopped. Some may appear twice. */
    unconfirmedEvents(referenceId: string): AsyncGenerator<string> {
      const workflowId = deliverWorkflowId(referenceId);
      return unconfirmedEvents(client, workflowId, list(DELIVER_WORKFLOW, anyOf('WorkflowId', [workflowId])));
    },
    /** The runs of a purchase, oldest first, including those of an earlier start. Lists lag. */
    runs: (referenceId: string) =>
      oldestFirst(list(PURCHASE_WORKFLOW, anyOf('WorkflowId', [purchaseWorkflowId(referenceId)]))),
    /**
     * The input of a run.
     * @throws WorkflowNotFoundError
     */
    startInput: (run: Run) => readStartInput(client, run),
    /**
     * The result of a run.
     * @throws WorkflowFailedError, WorkflowNotFoundError
     */
    result: ({ workflowId, runId }: Run): Promise<unknown> =>
      client.workflow.getHandle(workflowId, runId, { followRuns: false }).result(),
    /** The id of the fingerprint secret that a run recorded when it placed its order. */
    recordedSecretId: (run: Run) => readRecordedSecretId(client, run),
    /** The id of the order that a run placed or adopted, from its history, which no client can forge. */
    recordedOrderId: (run: Run) => readRecordedOrderId(client, run),
  };
}

/** Describes the latest runs first, because lists lag. */
async function* closingMemos(client: Client, referenceId: string): AsyncGenerator<ClosingMemo> {
  const purchaseId = purchaseWorkflowId(referenceId);
  const ids = [purchaseId, deliverWorkflowId(referenceId)];
  const ofReference = ({ status, type, memo, workflowId }: Omit<WorkflowExecutionInfo, 'raw'>): ClosingMemo[] => {
    const isPurchase = workflowId === purchaseId;
    const isOurs = type === (isPurchase ? PURCHASE_WORKFLOW : DELIVER_WORKFLOW);
    return isOurs && status.name === 'COMPLETED' ? [{ isPurchase, memo }] : [];
  };
  for (const workflowId of ids) {
    const latest = await describeIfKnown(client, workflowId);
    if (latest) yield* ofReference(latest);
  }
  const query = `${anyOf('WorkflowId', ids)} AND ExecutionStatus = 'Completed'`;
  for await (const execution of client.workflow.list({ query })) yield* ofReference(execution);
}

async function* unconfirmedEvents(
  client: Client,
  workflowId: string,
  listed: AsyncIterable<WorkflowExecutionInfo>,
): AsyncGenerator<string> {
  const latest = await describeIfKnown(client, workflowId);
  if (latest && !hasResultOrIsRunning(latest.status.name)) yield* await readSentEvents(client, latest);
  for await (const run of listed) if (!hasResultOrIsRunning(run.status.name)) yield* await readSentEvents(client, run);
}

/** @param listed newest first, as the server lists them */
async function oldestFirst(listed: AsyncIterable<WorkflowExecutionInfo>): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const { workflowId, runId } of listed) runs.unshift({ workflowId, runId });
  return runs;
}

/** @param execution a workflow's status, such as TERMINATED */
export function hasResultOrIsRunning(execution: string): boolean {
  return execution === 'RUNNING' || execution === 'COMPLETED';
}

function describeIfKnown(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  const description = client.workflow.getHandle(workflowId).describe();
  return description.catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  });
}
