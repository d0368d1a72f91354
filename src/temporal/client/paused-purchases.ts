import type { WorkflowExecutionInfo } from '@temporalio/client';
import { REFERENCE_ID } from '../../contracts/search-attributes';

/** A running purchase that the brake holds back. */
export interface PausedPurchase {
  workflowId: string;
  referenceId: string;
  /** Epoch ms: when this run of it began. */
  since: number;
}

export async function* pausedPurchases(listed: AsyncIterable<WorkflowExecutionInfo>): AsyncGenerator<PausedPurchase> {
  for await (const { workflowId, startTime, typedSearchAttributes: attributes } of listed) {
    const referenceId = attributes.get(REFERENCE_ID);
    if (referenceId !== undefined) yield { workflowId, referenceId, since: startTime.getTime() };
  }
}
