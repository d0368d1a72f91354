import type { Client } from '@temporalio/client';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID } from '../../contracts/search-attributes';
import { inTaskQueue } from './list-filters';

/** The order of the purchase that ended last in a task queue, if any has one. @throws ServiceError */
export async function newestOrderId(client: Client, taskQueue: string): Promise<string | undefined> {
  const query =
    `WorkflowType = '${PURCHASE_WORKFLOW}' AND ExecutionStatus = 'Completed' AND ` +
    `${PARTNER_ORDER_ID.name} IS NOT NULL AND ${inTaskQueue(taskQueue)}`;
  for await (const { typedSearchAttributes } of client.workflow.list({ query, pageSize: 1 })) {
    return typedSearchAttributes.get(PARTNER_ORDER_ID);
  }
  return undefined;
}
