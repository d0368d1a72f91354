import { isSafeOrderId, presentableStatus } from '../../domain/order';
import type { PartnerOrder, UnreadableRecord } from '../../domain/reconciliation/index';
import {
  byReadability,
  type HistoryOrder,
  isPartnerError,
  isUnreadable,
  limitPauses,
  type PartnerClient,
  type ReadRetry,
  type UnreadableRow,
  withRetry,
} from '../../partner/index';
import { pagePauses, readRetry } from '../../workflows/policies';
import { inParallel } from '../in-parallel';
import type { Progress } from '../progress';
import { orderRetry } from './read-order';

/** The most rows that are searched for again. */
const MOST_READ_AGAIN = 200;
const PARALLEL = 4;

/** The orders of the history, and its rows that can't be read. */
export interface OrderHistory {
  orders: PartnerOrder[];
  unreadable: UnreadableRecord[];
}

/**
 * Reads the order history back to an instant, each order once. The orders that come in while it is read are for the next
 * run, though some may be among them. A row that can't be read is searched for again, and costs none of the others.
 *
 * @param from epoch ms; some that are older may be among them.
 * @throws PartnerError; kind `incomplete` where the pages never hold as many orders as the partner counts.
 */
export async function readOrderHistory(
  partner: PartnerClient,
  from: number,
  progress: Progress,
): Promise<OrderHistory> {
  const rows = await partner.ordersSince(from, {
    retry: { ...readRetry, mayPause: limitPauses(pagePauses), signal: progress.signal },
    onPage: ({ page, pages, read, rows: orders }) =>
      progress.show('reading the order history', { page, pages, read, orders }),
    keep: (row) => (isUnreadable(row) ? row : partnerOrderOf(row)),
  });
  const { readable, unreadable } = byReadability<PartnerOrder>(rows);
  const young = unreadable.filter(({ notAfter = Infinity }) => notAfter >= from);
  const retry = orderRetry(progress.signal);
  const again = await inParallel(young.slice(0, MOST_READ_AGAIN), PARALLEL, (row) => readRowAgain(partner, row, retry));
  const found = again.filter((row) => row !== undefined).map(partnerOrderOf);
  const ids = new Set(found.map(({ id }) => id));
  return {
    orders: readable.concat(found),
    unreadable: young.filter(({ id }) => id === undefined || !ids.has(id)).map(unreadableRecordOf),
  };
}

/** @returns undefined where the search does not show it, or as little to be read as before. */
async function readRowAgain(
  partner: PartnerClient,
  { id }: UnreadableRow,
  retry: ReadRetry,
): Promise<HistoryOrder | undefined> {
  if (id === undefined || !isSafeOrderId(id)) return undefined;
  try {
    const { data } = await withRetry(retry, () => partner.listOrders({ search: id }));
    return data.orders.find((order) => order.id === id);
  } catch (error) {
    retry.signal.throwIfAborted();
    if (!isPartnerError(error) || error.kind === 'closed') throw error;
    return undefined;
  }
}

/** Of the partner's free text nothing goes on but a status in plain letters: a title may hold a key of this order. */
function partnerOrderOf({ id, referenceId, status, createdAt, item }: HistoryOrder): PartnerOrder {
  return {
    id,
    referenceId,
    status: presentableStatus(status),
    createdAt: Date.parse(createdAt),
    amount: item?.amount,
    quantity: item?.quantity,
  };
}

function unreadableRecordOf({ id, referenceId, problems }: UnreadableRow): UnreadableRecord {
  return {
    what: 'row',
    id: id !== undefined && isSafeOrderId(id) ? id : undefined,
    referenceId,
    why: `expected ${problems.join(', ')}`,
  };
}
