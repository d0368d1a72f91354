import type { WorkflowExecutionInfo } from '@temporalio/client';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../contracts/search-attributes';

/** A running purchase that has the order history read for it. */
export interface WaitingPurchase {
  workflowId: string;
  referenceId: string;
  orderId: string;
  /** Epoch ms: its order is no older. */
  since: number;
}

/** Those of a list that wait so: their memo says it, since no filter can. One whose memo can't be read is left out. */
export async function* waitingPurchases(listed: AsyncIterable<WorkflowExecutionInfo>): AsyncGenerator<WaitingPurchase> {
  for await (const { workflowId, memo, typedSearchAttributes: attributes } of listed) {
    const since = memo?.watchedSince;
    const referenceId = attributes.get(REFERENCE_ID);
    const orderId = attributes.get(PARTNER_ORDER_ID);
    if (typeof since !== 'number' || referenceId === undefined || orderId === undefined) continue;
    yield { workflowId, referenceId, orderId, since };
  }
}
