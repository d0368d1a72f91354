import { type Fingerprinter, secretIdOf } from '../../delivery';
import { type KeyIds, missingKeys, unionOfKeys } from '../../domain/line-totals';
import { isSafeOrderId, presentableStatus } from '../../domain/order';
import type { PartnerOrder, UnreadableRecord } from '../../domain/reconciliation/records';
import {
  byReadability,
  type HistoryOrder,
  isPartnerError,
  isUnreadable,
  limitPauses,
  type Order,
  type PartnerClient,
  type PartnerError,
  type ReadRetry,
  type UnreadableRow,
  withRetry,
} from '../../partner/index';
import { orderPauses, pagePauses, readRetry } from '../../workflows/policies';
import { inParallel } from '../in-parallel';
import { nameKeys } from '../order-keys';
import type { Progress } from '../progress';

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
  const found = await tryToRead(retry, () => partner.listOrders({ search: id }));
  return isPartnerError(found) ? undefined : found.orders.find((order) => order.id === id);
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

/** How the orders of one step of a reconciliation are read, all of them with the same one: it counts their pauses. */
export function orderRetry(signal: AbortSignal): ReadRetry {
  return { ...readRetry, mayPause: limitPauses(orderPauses), signal };
}

/** Reads one order at the partner, or says why it can't be read, so that one order stops nobody. */
export function readOrder(partner: PartnerClient, orderId: string, retry: ReadRetry): Promise<Order | PartnerError> {
  return tryToRead(retry, () => partner.getOrder(orderId));
}

/** What passes is tried again; what lasts is the answer. @throws whatever says nothing about what was read */
async function tryToRead<T>(retry: ReadRetry, read: () => Promise<{ data: T }>): Promise<T | PartnerError> {
  try {
    const { data } = await withRetry(retry, read);
    return data;
  } catch (error) {
    retry.signal.throwIfAborted();
    if (!isPartnerError(error) || error.kind === 'closed') throw error;
    return error;
  }
}

/**
 * What is known of an order, with what it said when it was read by itself.
 *
 * @param confirmed the ids of the keys of its purchase that the checkout has confirmed.
 */
export function withOrder(
  fingerprints: Fingerprinter,
  known: PartnerOrder,
  order: Order,
  confirmed: KeyIds = {},
): PartnerOrder {
  const { status, totalDebit, products } = order;
  const [first, ...others] = products;
  // Of an order of several products a title would be that of a part.
  const title = others.length === 0 ? first?.title : undefined;
  const keysGone = countKeysGone(fingerprints, order, confirmed);
  return { ...known, status: presentableStatus(status), totalDebit, title, keysGone };
}

/** @returns undefined where a secret that named the keys is not here. */
function countKeysGone(fingerprints: Fingerprinter, order: Order, confirmed: KeyIds): number | undefined {
  const secretIds = new Set(Object.values(confirmed).flat().map(secretIdOf));
  const named: KeyIds[] = [];
  for (const secretId of secretIds) {
    if (!fingerprints.keyIds([], secretId)) return undefined;
    for (const { productId, keys } of nameKeys({ fingerprints }, order, secretId)) {
      named.push({ [productId]: keys.map(({ id }) => id) });
    }
  }
  return missingKeys(confirmed, unionOfKeys(...named)).length;
}
