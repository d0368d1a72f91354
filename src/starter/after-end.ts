import type { WorkflowExecutionInfo } from '@temporalio/client';
import { deliverWorkflowId, referenceOfDelivery } from '../contracts/names';
import type { StateAfterEnd } from '../contracts/public-types';
import { deliveryMemo } from '../contracts/purchase';
import { anyOfInBatches } from '../contracts/purchase-queries';
import { PURCHASE_STATE } from '../contracts/search-attributes';
import { mayGetMoreKeys, PURCHASE_OUTCOMES } from '../domain/purchase-state';
import type { PurchaseReader } from '../temporal/client';

/** Some servers reject longer list queries. */
const MAX_IDS_PER_QUERY = 50;

/** The state that a delivery left. Undefined if it is running, has failed or delivered nothing. */
export function afterEndOf(delivery: WorkflowExecutionInfo): StateAfterEnd | undefined {
  const { status, closeTime, memo, typedSearchAttributes } = delivery;
  const listed = typedSearchAttributes.get(PURCHASE_STATE);
  const state = PURCHASE_OUTCOMES.find((outcome) => outcome === listed);
  if (state === undefined || status.name !== 'COMPLETED' || !closeTime) return undefined;
  const { keyIds = {}, goneKeyIds = [] } = deliveryMemo.safeParse(memo ?? {}).data ?? {};
  const gone = new Set(goneKeyIds);
  const counts = Object.entries(keyIds).map(([productId, ids]) => [
    productId,
    ids.filter((id) => !gone.has(id)).length,
  ]);
  return { state, at: closeTime.toISOString(), delivered: Object.fromEntries(counts) as Record<string, number> };
}

/** Whether the checkout can't receive any more keys. */
export function isFinal(afterEnd: StateAfterEnd | undefined): boolean {
  return afterEnd !== undefined && !mayGetMoreKeys(afterEnd.state);
}

/** Lists the states that deliveries left, by reference. Lists lag by about a second. */
export async function listAfterEnd(
  purchases: PurchaseReader,
  references: readonly string[],
): Promise<Map<string, StateAfterEnd>> {
  const found = new Map<string, StateAfterEnd>();
  for (const query of anyOfInBatches('WorkflowId', references.map(deliverWorkflowId), MAX_IDS_PER_QUERY)) {
    for await (const delivery of purchases.listDeliveries(`${query} AND ${PURCHASE_STATE.name} IS NOT NULL`)) {
      const afterEnd = afterEndOf(delivery);
      const referenceId = referenceOfDelivery(delivery.workflowId) ?? '';
      const before = found.get(referenceId);
      if (afterEnd && (before === undefined || before.at < afterEnd.at)) found.set(referenceId, afterEnd);
    }
  }
  return found;
}
