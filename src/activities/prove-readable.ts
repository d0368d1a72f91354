import { byReadability, type HistoryOrder, MAX_PAGE_SIZE, type NewestOrders, type PartnerClient } from '../partner';

/** How many of the newest orders are read: for the newest one, and for one that the search does not show. */
export const NEWEST_SAMPLE = 100;

/** Why nothing can be called absent. */
export const EMPTY_HISTORY = 'the order history is empty, which proves nothing';

/** Whether a search that shows no order says anything. */
interface Readability {
  readable: boolean;
  why: string;
}

type KnownOrder = HistoryOrder & { referenceId: string };

/**
 * Whether a search would have shown an order that exists: the newest one that the history lists is found by the same query. An
 * old one says nothing about an index that lags behind. Where orders come in all the time the newest is always too new; then
 * one will do that was placed later than the one that is looked for. An empty history proves nothing.
 *
 * @param sentBefore epoch ms: the order that is looked for was not placed later. By as much as the partner's clock is ahead, as its
 *   answers show, an order must have been placed later still. That it is behind only makes the second proof stronger.
 */
export async function proveSearch(
  partner: PartnerClient,
  { rows, aheadMs }: NewestOrders,
  sentBefore: number,
): Promise<Readability> {
  const known = byReadability<HistoryOrder>(rows)
    .readable.filter(hasReference)
    .toSorted((one, other) => timeOf(other) - timeOf(one));
  const [newest] = known;
  if (!newest) return { readable: false, why: EMPTY_HISTORY };
  const later = known.findLast((order) => timeOf(order) > sentBefore + aheadMs);
  for (const order of new Set([newest, later ?? newest])) {
    if (await isFound(partner, order)) return { readable: true, why: 'the search finds a known order' };
  }
  return { readable: false, why: 'the search does not find an order known to exist' };
}

async function isFound(partner: PartnerClient, known: KnownOrder): Promise<boolean> {
  const { data } = await partner.listOrders({ search: known.referenceId, limit: MAX_PAGE_SIZE });
  return data.orders.some((row) => row.id === known.id);
}

function hasReference(order: HistoryOrder): order is KnownOrder {
  return order.referenceId !== undefined && order.referenceId !== '';
}

function timeOf({ createdAt }: HistoryOrder): number {
  return Date.parse(createdAt);
}
