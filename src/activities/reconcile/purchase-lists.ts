import { type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { referenceIdOfWorkflow } from '../../contracts/names';
import type { DeliveryMemo } from '../../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../../contracts/search-attributes';
import { isSafeOrderId, REFERENCE_PATTERN } from '../../domain/order';
import type { PartnerOrder, KnownPurchase } from '../../domain/reconciliation/index';
import type { PurchaseReader } from '../../temporal/client';
import type { Progress } from '../progress';
import { readDeliveryMemo, readMemo } from './purchase-memo';

/** Names in one query. A query of the longest references is then about 30,000 characters. */
const BATCH = 300;

/** What may still bring keys, whatever its age. */
const FOLLOWED =
  "(PurchaseState IN ('OVERDUE', 'PARTIALLY_DELIVERED') OR " +
  "ExecutionStatus IN ('Running', 'Terminated', 'Failed', 'TimedOut', 'Canceled'))";

/** What was delivered after the end of purchases. */
export interface LaterDeliveries {
  of(referenceId: string): readonly DeliveryMemo[];
  /** The `findingKey` of each finding that the checkout was notified of. */
  notified: ReadonlySet<string>;
}

/**
 * Reads what was delivered after the end of purchases. What failed or is still on its way is left out, and so is what this run
 * did before its worker died, because it belongs in this run's report.
 */
export async function listLaterDeliveries(reader: PurchaseReader, ownRunId: string): Promise<LaterDeliveries> {
  const byReference = new Map<string, DeliveryMemo[]>();
  const notified = new Set<string>();
  for await (const { memo, typedSearchAttributes } of reader.listDeliveries("ExecutionStatus = 'Completed'")) {
    const delivery = readDeliveryMemo(memo);
    const referenceId = typedSearchAttributes.get(REFERENCE_ID);
    if (delivery.reconciledBy === ownRunId || referenceId === undefined) continue;
    byReference.set(referenceId, [...(byReference.get(referenceId) ?? []), delivery]);
    if (delivery.notifiedOf !== undefined) notified.add(delivery.notifiedOf);
  }
  return { of: (referenceId) => byReference.get(referenceId) ?? [], notified };
}

/**
 * Lists the purchases that began within the window, those that are to be followed whatever their age, and those that
 * belong to the orders. Lists lag and hold no results, so they only suggest findings; a description confirms them.
 */
export async function listPurchases(
  reader: PurchaseReader,
  { from, orders, later }: { from: number; orders: readonly PartnerOrder[]; later: LaterDeliveries },
  progress: Progress,
): Promise<KnownPurchase[]> {
  const found = new Map<string, KnownPurchase>();
  const references = new Set<string>();
  const orderIds = new Set<string>();
  const add = async (query: string) => {
    for await (const execution of reader.list(query)) {
      const purchase = knownPurchase(execution, later);
      found.set(purchase.runId, purchase);
      references.add(purchase.referenceId);
      if (purchase.orderId !== undefined) orderIds.add(purchase.orderId);
    }
    progress.signal.throwIfAborted();
    progress.show('reading the purchases', { purchases: found.size });
  };

  await add(`StartTime >= '${new Date(from).toISOString()}'`);
  await add(FOLLOWED);
  const unknown = orders.filter((order) => !references.has(order.referenceId ?? '') && !orderIds.has(order.id));
  for (const names of batchesOf(unknown, ({ referenceId }) => (isReference(referenceId) ? referenceId : undefined))) {
    await add(`${REFERENCE_ID.name} IN (${names})`);
  }
  const unreferenced = unknown.filter((order) => !references.has(order.referenceId ?? ''));
  for (const ids of batchesOf(unreferenced, ({ id }) => (isSafeOrderId(id) ? id : undefined))) {
    await add(`${PARTNER_ORDER_ID.name} IN (${ids})`);
  }
  return [...found.values()];
}

/** What is known of a purchase at this moment, from the server's own record and not from a list. */
export async function describePurchase(
  reader: PurchaseReader,
  referenceId: string,
  later: LaterDeliveries,
): Promise<KnownPurchase | undefined> {
  if (!isReference(referenceId)) return undefined;
  try {
    return knownPurchase(await reader.describe(referenceId), later);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function knownPurchase(execution: Omit<WorkflowExecutionInfo, 'raw'>, later: LaterDeliveries): KnownPurchase {
  const { workflowId, runId, startTime, closeTime, typedSearchAttributes: attributes } = execution;
  const memo = readMemo(execution.memo);
  const isRead = typeof memo !== 'string';
  const referenceId = attributes.get(REFERENCE_ID) ?? referenceIdOfWorkflow(workflowId);
  const known: KnownPurchase = {
    referenceId,
    workflowId,
    runId,
    totalDebit: isRead ? memo.totalDebit : undefined,
    ordered: isRead ? memo.ordered : undefined,
    delivered: isRead ? memo.delivered : undefined,
    fingerprints: isRead ? memo.fingerprints : undefined,
    state: attributes.get(PURCHASE_STATE) ?? '',
    execution: execution.status.name,
    orderId: attributes.get(PARTNER_ORDER_ID),
    startedAt: startTime.getTime(),
    closedAt: closeTime?.getTime(),
    hold: isRead ? memo.hold : undefined,
    unreadable: isRead ? undefined : memo,
  };
  return later.of(referenceId).reduce(withLater, known);
}

/**
 * What was delivered later counts as if the purchase itself had delivered it. Each later delivery with keys says what the
 * checkout has in all; of several records the fullest counts.
 */
function withLater(purchase: KnownPurchase, later: DeliveryMemo): KnownPurchase {
  const { notifiedOf, fingerprints = {}, ordered, orderId } = later;
  if (notifiedOf !== undefined) return { ...purchase, notified: [...(purchase.notified ?? []), notifiedOf] };
  const delivered = Object.values(fingerprints).flat().length;
  if (delivered <= (purchase.delivered ?? 0)) return purchase;
  return { ...purchase, fingerprints, delivered, ordered, orderId: purchase.orderId ?? orderId };
}

/** Lists for `IN (…)`, each made when it is needed. `nameOf` lets pass no name with a quotation mark. */
function* batchesOf(
  orders: readonly PartnerOrder[],
  nameOf: (order: PartnerOrder) => string | undefined,
): Generator<string> {
  const names = new Set<string>();
  for (const order of orders) {
    const name = nameOf(order);
    if (name !== undefined) names.add(`'${name}'`);
    if (names.size < BATCH) continue;
    yield [...names].join(', ');
    names.clear();
  }
  if (names.size > 0) yield [...names].join(', ');
}

/** Only such a text can be the reference of a purchase; what else the partner shows never becomes part of a query. */
function isReference(text: string | undefined): text is string {
  return text !== undefined && REFERENCE_PATTERN.test(text);
}
