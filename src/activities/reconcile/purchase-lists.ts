import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { z } from 'zod';
import { purchaseWorkflowId, referenceOfDelivery, referenceOfPurchase } from '../../contracts/names';
import { type DeliveryMemo, deliveryMemo, purchaseMemo } from '../../contracts/purchase';
import { anyOfInBatches } from '../../contracts/purchase-queries';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../../contracts/search-attributes';
import { groupBy } from '../../domain/group-by';
import { countKeyIds, unionOfKeyIds } from '../../domain/key-ids';
import { isSafeOrderId, REFERENCE_PATTERN } from '../../domain/order';
import {
  isWithoutOrder,
  type KnownPurchase,
  type PartnerOrder,
  withEarlierRun,
  withKeys,
} from '../../domain/reconciliation/records';
import type { PurchaseReader } from '../../temporal/client';
import { describeIfValid } from '../dependencies';
import type { Progress } from '../progress';

/** Values in one query. With the longest references, such a query has about 30,000 characters. */
const BATCH = 300;

/** Purchases of any age that may still get keys. */
const FOLLOWED =
  "(PurchaseState IN ('OVERDUE', 'PARTIALLY_DELIVERED') OR " +
  "ExecutionStatus IN ('Running', 'Terminated', 'Failed', 'TimedOut', 'Canceled'))";

/** The memo of a late delivery. Undefined if it did not complete: it may have delivered without a confirmation. */
type LateDelivery = Partial<DeliveryMemo> | undefined;

/** Late deliveries by reference. */
export type LateDeliveries = ReadonlyMap<string, readonly LateDelivery[]>;

/** What a purchase is combined with while it is read. */
interface OtherRecords {
  /** By id. */
  orders: ReadonlyMap<string, PartnerOrder>;
  lateDeliveries: LateDeliveries;
}

/** Reads all late deliveries, except running ones, the oldest first. */
export async function listLateDeliveries(reader: PurchaseReader): Promise<LateDeliveries> {
  const found: { referenceId: string; startedAt: number; delivery: LateDelivery }[] = [];
  for await (const { memo, workflowId, status, startTime } of reader.listDeliveries("ExecutionStatus != 'Running'")) {
    const referenceId = referenceOfDelivery(workflowId) ?? '';
    const delivery = status.name === 'COMPLETED' ? (deliveryMemo.safeParse(memo ?? {}).data ?? {}) : undefined;
    found.push({ referenceId, startedAt: startTime.getTime(), delivery });
  }
  const oldestFirst = found.toSorted((one, other) => one.startedAt - other.startedAt);
  const byReference = groupBy(oldestFirst, ({ referenceId }) => referenceId);
  return new Map([...byReference].map(([referenceId, own]) => [referenceId, own.map(({ delivery }) => delivery)]));
}

/**
 * Lists the purchases that started within the window, older ones that may still get keys, and those that belong to the
 * orders. Lists lag, so they only suggest findings, which are checked again with a description of the workflow.
 */
export async function listKnownPurchases(
  reader: PurchaseReader,
  from: number,
  { orders, lateDeliveries }: OtherRecords,
  progress: Progress,
): Promise<KnownPurchase[]> {
  const found = new Map<string, KnownPurchase>();
  const references = new Set<string>();
  const orderIds = new Set<string>();
  const add = async (query: string) => {
    for await (const execution of reader.list(query)) {
      const purchase = await knownPurchase(reader, execution, { orders, lateDeliveries });
      if (!purchase) continue;
      found.set(purchase.runId, purchase);
      references.add(purchase.referenceId);
      if (purchase.orderId !== undefined) orderIds.add(purchase.orderId);
    }
    progress.signal.throwIfAborted();
    progress.show('reading the purchases', { purchases: found.size });
  };

  await add(`StartTime >= '${new Date(from).toISOString()}'`);
  await add(FOLLOWED);
  const unknown = [...orders.values()].filter(
    (order) => !references.has(order.referenceId ?? '') && !orderIds.has(order.id),
  );
  const unknownReferences = unknown.map(({ referenceId }) => referenceId).filter(isReference);
  const workflowIds = unknownReferences.map(purchaseWorkflowId);
  for (const query of anyOfInBatches('WorkflowId', workflowIds, BATCH)) await add(query);
  const unreferenced = unknown.filter((order) => !references.has(order.referenceId ?? ''));
  const ids = unreferenced.map(({ id }) => id).filter(isSafeOrderId);
  for (const query of anyOfInBatches(PARTNER_ORDER_ID.name, ids, BATCH)) await add(query);
  return [...found.values()];
}

/** The current state of a purchase, from the server's own record rather than a list, with what its earlier runs recorded. */
export async function readKnownPurchase(
  reader: PurchaseReader,
  referenceId: string,
  others: OtherRecords,
): Promise<KnownPurchase | undefined> {
  const description = await describeIfValid(reader, referenceId);
  const latest = description && (await knownPurchase(reader, description, others));
  if (!latest) return undefined;
  let known = latest;
  for (const run of (await reader.runs(referenceId)).toReversed()) {
    const earlier = run.runId === latest.runId ? undefined : await knownPurchase(reader, run, others);
    if (earlier) known = withEarlierRun(known, earlier);
  }
  return known;
}

/**
 * @returns undefined for a workflow whose id is not that of a purchase. Such a workflow fails when it starts, and only
 *   its search attributes, which any client can set, could name a purchase or an order.
 */
async function knownPurchase(
  reader: PurchaseReader,
  execution: Omit<WorkflowExecutionInfo, 'raw'>,
  { orders, lateDeliveries }: OtherRecords,
): Promise<KnownPurchase | undefined> {
  const { workflowId, runId, startTime, closeTime, status, typedSearchAttributes: attributes } = execution;
  const referenceId = referenceOfPurchase(workflowId);
  if (referenceId === undefined) return undefined;
  const { success, data, error } = purchaseMemo.safeParse(execution.memo ?? {});
  const unreadable = success ? undefined : memoProblem(error);
  const orderId = attributes.get(PARTNER_ORDER_ID);
  const { referenceId: shown = referenceId } = orders.get(orderId ?? '') ?? {};
  const state = attributes.get(PURCHASE_STATE) ?? '';
  // A run may be stopped before it wrote the id of the order that it had just placed.
  const isUnwritten = state !== '' && isWithoutOrder({ orderId, workflowStatus: status.name });
  // A client can start a workflow with any memo, so a memo is trusted only if the purchase completed.
  const closing = status.name === 'COMPLETED' ? data : undefined;
  const known: KnownPurchase = {
    referenceId,
    workflowId,
    runId,
    unreadable,
    totalDebit: closing?.totalDebit,
    ordered: closing?.ordered,
    keyIds: closing?.keyIds,
    delivered: closing && countKeyIds(closing.keyIds),
    state,
    workflowStatus: status.name,
    // A client can start a workflow with any search attribute, so another purchase's order must also be in the history.
    orderId: shown === referenceId && !isUnwritten ? orderId : await reader.recordedOrderId({ workflowId, runId }),
    startedAt: startTime.getTime(),
    closedAt: closeTime?.getTime(),
    hold: data?.hold,
  };
  return (lateDeliveries.get(referenceId) ?? []).reduce(withLateDelivery, known);
}

/** Names the field, but not its content. */
function memoProblem({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.slice(0, 2).map(String).join('.')} has an unexpected shape`;
}

/** Keys of a late delivery count as delivered by the purchase itself. */
function withLateDelivery(known: KnownPurchase, memo: LateDelivery): KnownPurchase {
  if (!memo) return { ...known, keysMayHaveArrived: true };
  const keysMayHaveArrived = known.keysMayHaveArrived || memo.keysMayHaveArrived === true;
  // A later run may have delivered keys after all, because an operator decided so.
  const isCurrent = (at: string) => Date.parse(at) >= (known.closedAt ?? 0);
  const refundReceived =
    known.refundReceived || memo.events?.some(({ type, at }) => type === 'purchase.refunded' && isCurrent(at));
  const purchase = { ...known, keysMayHaveArrived, refundReceived };
  const keyIds = unionOfKeyIds(purchase.keyIds ?? {}, memo.keyIds ?? {});
  const { goneKeyIds = purchase.goneKeyIds } = memo;
  const received = withKeys({ goneKeyIds }, keyIds);
  const isNew =
    received.delivered !== (purchase.delivered ?? 0) || countKeyIds(keyIds) !== countKeyIds(purchase.keyIds);
  if (!isNew) return { ...purchase, ordered: purchase.ordered ?? memo.ordered };
  return {
    ...purchase,
    ...received,
    goneKeyIds,
    ordered: memo.ordered ?? purchase.ordered,
    orderId: purchase.orderId ?? memo.orderId,
  };
}

/** Only a valid reference becomes part of a query, because the text comes from the partner. */
function isReference(text: string | undefined): text is string {
  return text !== undefined && REFERENCE_PATTERN.test(text);
}
