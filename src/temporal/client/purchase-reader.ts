import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { DELIVER_WORKFLOW, deliverWorkflowId, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../../contracts/names';
import { anyOf } from '../../contracts/purchase-queries';
import { PURCHASE_STATE } from '../../contracts/search-attributes';
import { eventTypeOf, PURCHASE_OUTCOMES } from '../../domain/purchase-state';
import { createBatchedList } from './batched-list';
import { createListedRuns } from './listed-runs';
import { createOrderOwners } from './order-owners';
import { readRecordedOrderId, readRecordedSecretId, readSentEvents, readStartInput, type Run } from './run-history';
import { ROWS_PER_PAGE } from './visibility';

/** What a run of a purchase or of its late deliveries left on record. */
export interface EarlierRun {
  isPurchase: boolean;
  /** The memo that it wrote when it completed. */
  memo?: Record<string, unknown> | undefined;
  /** The types of the events that it may have sent without a confirmation. */
  unconfirmedEvents: string[];
}

/** Reads purchases and their late deliveries from Temporal. It changes nothing and doesn't need a running worker. */
export type PurchaseReader = ReturnType<typeof createPurchaseReader>;

/** @param client for the namespace of the purchases */
export function createPurchaseReader(client: Client) {
  const listBy = createBatchedList(client);
  return {
    ...createOrderOwners(client, listBy),
    ...createListedRuns(client, listBy),
    /**
     * The server's own record of the latest run of a purchase.
     * @throws WorkflowNotFoundError
     */
    describe: (referenceId: string) => describePurchase(client, referenceId),
    /** Like `describe`, but undefined if the server does not know the purchase. */
    describeIfKnown: (referenceId: string) => ifKnown(describePurchase(client, referenceId)),
    /** The latest late delivery of a purchase; undefined if the server knows none. */
    describeDeliveryIfKnown: (referenceId: string) =>
      ifKnown(client.workflow.getHandle(deliverWorkflowId(referenceId)).describe()),
    /**
     * Lists purchases. Lists lag.
     * @param query further conditions, as a Temporal list filter
     */
    list: (query: string) => listType(client, PURCHASE_WORKFLOW, query),
    /** Lists late deliveries, like `list`. */
    listDeliveries: (query: string) => listType(client, DELIVER_WORKFLOW, query),
    /** All runs of a purchase and of its late deliveries, except the one with this run id. */
    earlierRuns: (referenceId: string, ownRunId: string | undefined) => earlierRuns(client, referenceId, ownRunId),
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

async function* earlierRuns(
  client: Client,
  referenceId: string,
  ownRunId: string | undefined,
): AsyncGenerator<EarlierRun> {
  const purchaseId = purchaseWorkflowId(referenceId);
  const ids = [purchaseId, deliverWorkflowId(referenceId)];
  const seen = new Set([ownRunId]);
  for await (const run of latestAndListed(client, ids)) {
    const { status, type, memo, workflowId, runId, typedSearchAttributes } = run;
    const isPurchase = workflowId === purchaseId;
    const isOurs = type === (isPurchase ? PURCHASE_WORKFLOW : DELIVER_WORKFLOW);
    if (!isOurs || seen.has(runId)) continue;
    seen.add(runId);
    if (status.name === 'COMPLETED')
      yield { isPurchase, memo, unconfirmedEvents: isPurchase ? outcomeEvents(typedSearchAttributes) : [] };
    else yield { isPurchase, unconfirmedEvents: await readSentEvents(client, { workflowId, runId }) };
  }
}

/** The event of the outcome that a completed purchase recorded: `--withhold` completes it even without a confirmation. */
function outcomeEvents(attributes: TypedSearchAttributes): string[] {
  const outcome = PURCHASE_OUTCOMES.find((one) => one === attributes.get(PURCHASE_STATE));
  return outcome === undefined ? [] : [eventTypeOf(outcome)];
}

/** Describes the latest runs first, because lists lag. They appear twice. */
async function* latestAndListed(
  client: Client,
  ids: readonly string[],
): AsyncGenerator<Omit<WorkflowExecutionInfo, 'raw'>> {
  for (const id of ids) {
    const latest = await ifKnown(client.workflow.getHandle(id).describe());
    if (latest) yield latest;
  }
  yield* client.workflow.list({ query: anyOf('WorkflowId', ids), pageSize: ROWS_PER_PAGE });
}

function listType(client: Client, type: string, query: string): AsyncIterable<WorkflowExecutionInfo> {
  return client.workflow.list({ query: `WorkflowType = '${type}' AND ${query}`, pageSize: ROWS_PER_PAGE });
}

/** Any client can start another type of workflow under the id of a purchase. Such a workflow must not hide the purchase. */
async function describePurchase(client: Client, referenceId: string): Promise<WorkflowExecutionDescription> {
  const workflowId = purchaseWorkflowId(referenceId);
  const latest = await client.workflow.getHandle(workflowId).describe();
  if (latest.type === PURCHASE_WORKFLOW) return latest;
  for await (const { runId } of listType(client, PURCHASE_WORKFLOW, anyOf('WorkflowId', [workflowId])))
    return client.workflow.getHandle(workflowId, runId).describe();
  throw new WorkflowNotFoundError(`${workflowId} is not a ${PURCHASE_WORKFLOW}`, workflowId, undefined);
}

function ifKnown(
  description: Promise<WorkflowExecutionDescription>,
): Promise<WorkflowExecutionDescription | undefined> {
  return description.catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  });
}
