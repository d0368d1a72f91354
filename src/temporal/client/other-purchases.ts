import type { Client } from '@temporalio/client';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { REFERENCE_ID } from '../../contracts/search-attributes';

/**
 * Finds other purchases that name an order as theirs: the partner may answer two placements with one id.
 * Visibility lags a little and can be away; not knowing is no reason to withhold paid goods, so that is an empty list.
 * The reconciliation finds what this misses.
 */
export function otherPurchasesOf(client: Client) {
  return async (orderId: string, referenceId: string): Promise<string[]> => {
    const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND PartnerOrderId = '${orderId}' AND ReferenceId != '${referenceId}'`;
    const found: string[] = [];
    try {
      for await (const purchase of client.workflow.list({ query, pageSize: 10 })) {
        const other = purchase.typedSearchAttributes.get(REFERENCE_ID);
        if (other !== undefined) found.push(other);
        if (found.length >= 10) break;
      }
    } catch {
      return [];
    }
    return found;
  };
}
