import { presentableStatus } from '../../domain/order';
import type { PartnerOrder } from '../../domain/reconciliation/index';
import type { HistoryOrder, PartnerClient } from '../../partner/index';
import { readRetry } from '../../workflows/policies';
import type { Progress } from './progress';

/**
 * Reads the order history back to an instant, each order once. The orders that come in while it is read are for the next
 * run, though some may be among them.
 *
 * @param from epoch ms; some that are older may be among them.
 * @throws PartnerError; kind `incomplete` where the pages never hold as many orders as the partner counts.
 */
export async function readOrderHistory(
  partner: PartnerClient,
  from: number,
  progress: Progress,
): Promise<PartnerOrder[]> {
  const rows = await partner.ordersSince(from, {
    retry: { ...readRetry, signal: progress.signal },
    onPage: ({ page, pages, read, rows: orders }) =>
      progress.show('reading the order history', { page, pages, read, orders }),
  });
  return rows.map(partnerOrderOf);
}

/** Of the partner's free text nothing goes on but what is needed: a status in plain letters, a title cut short. */
function partnerOrderOf({ id, referenceId, status, createdAt, item }: HistoryOrder): PartnerOrder {
  return {
    id,
    referenceId,
    status: presentableStatus(status),
    createdAt: Date.parse(createdAt),
    amount: item?.amount,
    title: item?.title?.slice(0, 200),
    quantity: item?.quantity,
  };
}
