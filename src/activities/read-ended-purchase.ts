import type { WorkflowExecutionDescription } from '@temporalio/client';
import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { purchaseWorkflowId } from '../contracts/names';
import { deliveryMemo, purchaseMemo, purchaseResult } from '../contracts/purchase';
import { secretIdOf } from '../delivery';
import { type KeyIds, unionOfKeyIds } from '../domain/key-ids';
import { isBillable } from '../domain/order';
import type { PurchaseItem } from '../domain/purchase-item';
import { isKeylessEvent, isKeylessOutcome } from '../domain/purchase-state';
import type { EndedPurchase } from '../domain/plan-delivery';
import { itemsOnly, validatePurchase } from '../domain/purchase-rules';
import type { PurchaseReader, Run } from '../temporal/client';
import { searchPermitWaitMs } from '../workflows/policies';
import { type ActivityDependencies, describeIfValid, ownRunId, readPermits } from './dependencies';
import { failure, toFailure } from './failures';
import { findByReference } from './find-orders';
import { addKeyIds, snapshotOf } from './order-keys';

/** Reads ended purchases. */
export function createReadEndedPurchaseActivities(deps: ActivityDependencies): Pick<Activities, 'readEndedPurchase'> {
  return {
    async readEndedPurchase({ referenceId }) {
      const permits = readPermits(deps, 'delivery', searchPermitWaitMs(deps.settings));
      try {
        const { ended, taskQueue } = await deps.partner.withPermits(permits, (partner) =>
          loadEndedPurchase({ ...deps, partner }, referenceId),
        );
        if (taskQueue === activityInfo().taskQueue) return ended;
        throw nothingToDeliver(`the purchase belongs to the task queue ${taskQueue}`);
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

/**
 * Reads an ended purchase from its result, its closing memo and its order. If it did not complete, a client may have
 * forged its memo and search attributes, so its order is the one that its history shows, or that has its reference.
 *
 * @throws ApplicationFailure `NothingToDeliver` if the purchase is unknown or still running; PartnerError
 */
export async function loadEndedPurchase(
  deps: ActivityDependencies,
  referenceId: string,
): Promise<{ ended: EndedPurchase; taskQueue: string }> {
  const description = await describeIfValid(deps.purchases, referenceId);
  if (!description) throw nothingToDeliver('the purchase is no longer known');
  const { status, taskQueue } = description;
  if (status.name === 'RUNNING') throw nothingToDeliver('the purchase is still running and will deliver by itself');
  const items = await itemsBought(deps, description, referenceId);
  const result =
    status.name === 'COMPLETED' ? purchaseResult.parse(await deps.purchases.result(description)) : undefined;
  const memo = purchaseMemo.safeParse(result ? (description.memo ?? {}) : {}).data;
  const firstRunId = description.raw.workflowExecutionInfo?.firstRunId ?? description.runId;
  const earlier = await readEarlierRuns(deps.purchases, referenceId, ownRunId());
  const { receivedKeyIds, refundReceived, keylessEvents } = earlier;
  const ended: EndedPurchase = {
    referenceId,
    runId: description.runId,
    items,
    outcome: result?.outcome,
    orderId: result?.orderId,
    totalDebit: result?.totalDebit,
    reason: result?.reason,
    receivedKeyIds,
    refundReceived,
    keylessEvents,
    outcomeKeyIds: memo?.outcomeKeyIds ?? memo?.keyIds ?? {},
    adopted: memo?.adopted,
  };
  if (result && isKeylessOutcome(result.outcome)) return { ended, taskQueue };
  const orderId = result ? result.orderId : await ownOrderId(deps, description, referenceId);
  if (orderId === undefined) return { ended, taskQueue };
  const secretId = await secretIdBefore(deps.purchases, referenceId, firstRunId, earlier);
  const { data } = await deps.partner.getOrder(
    orderId,
    items.map(({ productId }) => productId),
  );
  const [claimedBy] = await deps.purchases.othersWithOrder(orderId, referenceId);
  const lines = addKeyIds(deps, data, secretId ?? deps.fingerprints.newestId());
  const order = { ...snapshotOf(orderId, data, lines), claimedBy };
  const accepted = memo?.accepted?.orderId === orderId ? memo.accepted : undefined;
  return { ended: { ...ended, orderId, accepted, order }, taskQueue };
}

/** What earlier runs of a purchase and its late deliveries left on record. */
interface EarlierRuns {
  /** The ids of all keys that the checkout has received. */
  receivedKeyIds: KeyIds;
  /** Whether the checkout was notified of a refund after the purchase ended. */
  refundReceived: boolean;
  /** See `ReviewTerms`. */
  keylessEvents: string[];
}

/** Reads what earlier runs left on record, which no client can forge. */
export async function readEarlierRuns(
  purchases: PurchaseReader,
  referenceId: string,
  ownRunId: string | undefined,
): Promise<EarlierRuns> {
  const received: KeyIds[] = [];
  let refundReceived = false;
  const keyless = new Set<string>();
  for await (const { isPurchase, memo, unconfirmedEvents } of purchases.earlierRuns(referenceId, ownRunId)) {
    const { keyIds, events } = (isPurchase ? purchaseMemo : deliveryMemo).safeParse(memo ?? {}).data ?? {};
    if (keyIds) received.push(keyIds);
    const types = (events ?? []).map(({ type }) => type);
    refundReceived ||= !isPurchase && types.includes('purchase.refunded');
    // An event that was not confirmed may have arrived.
    for (const type of [...types, ...unconfirmedEvents].filter(isKeylessEvent)) keyless.add(type);
  }
  return { receivedKeyIds: unionOfKeyIds(...received), refundReceived, keylessEvents: [...keyless] };
}

/**
 * The secret of this purchase's key ids: the one from which the received key ids were made; if there are none, the one
 * that the oldest run recorded.
 * @param firstRunId of the purchase
 */
export async function secretIdBefore(
  purchases: PurchaseReader,
  referenceId: string,
  firstRunId: string,
  { receivedKeyIds }: Pick<EarlierRuns, 'receivedKeyIds'>,
): Promise<string | undefined> {
  const [keyId] = Object.values(receivedKeyIds).flat();
  if (keyId !== undefined) return secretIdOf(keyId);
  // Lists lag, so they may lack the purchase's own first run.
  const firstRun = { workflowId: purchaseWorkflowId(referenceId), runId: firstRunId };
  for (const run of [...(await purchases.runs(referenceId)), firstRun]) {
    const secretId = await purchases.recordedSecretId(run);
    if (secretId !== undefined) return secretId;
  }
  return undefined;
}

/** The runs of a reference: the latest, then those of resets and other starts, newest first. */
async function* newestFirst(
  { purchases }: ActivityDependencies,
  latest: WorkflowExecutionDescription,
  referenceId: string,
): AsyncGenerator<Run> {
  yield latest;
  yield* (await purchases.runs(referenceId)).filter(({ runId }) => runId !== latest.runId).toReversed();
}

/** The items of the latest run with a valid input. A later start with an invalid one bought nothing. */
async function itemsBought(
  deps: ActivityDependencies,
  latest: WorkflowExecutionDescription,
  referenceId: string,
): Promise<PurchaseItem[]> {
  for await (const run of newestFirst(deps, latest, referenceId)) {
    const input = await deps.purchases.startInput(run);
    if (validatePurchase(input).length === 0) return itemsOnly((input as { items: PurchaseItem[] }).items);
  }
  throw nothingToDeliver('the purchase was started with an invalid input');
}

/**
 * The order of a purchase without a result: the one that its latest run recorded, otherwise the one that a search finds.
 * If there are several, an operator must decide.
 */
async function ownOrderId(
  deps: ActivityDependencies,
  latest: WorkflowExecutionDescription,
  referenceId: string,
): Promise<string | undefined> {
  const recorded =
    (await deps.purchases.recordedOrderId(latest)) ??
    (await deps.purchases.orderOfOtherRun(await deps.purchases.runs(referenceId), latest.runId));
  if (recorded !== undefined) return recorded;
  const wanted = {
    referenceId,
    purchaseStartedAt: latest.startTime.getTime(),
    requestMayHaveBeenSent: true,
    mayHaveEarlierRun: true,
  };
  const { orders, unclear } = await findByReference(deps.partner, wanted, deps);
  if (unclear !== undefined) throw failure(FAILURE.partnerUnavailable, unclear);
  const billable = orders.filter(isBillable);
  if (billable.length > 1) throw nothingToDeliver(`the partner has ${billable.length} orders for this purchase`);
  return (billable[0] ?? orders[0])?.id;
}

function nothingToDeliver(reason: string) {
  return failure(FAILURE.nothingToDeliver, reason, { final: true });
}
