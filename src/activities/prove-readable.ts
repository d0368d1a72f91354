import { byReadability, type HistoryOrder, type HistoryRow, MAX_PAGE_SIZE, type PartnerClient } from '../partner';

/** How many orders are read at an end of the history: for the newest one, and for one that the search does not show. */
const SAMPLE = 100;

/** Why nothing can be called absent. */
export const EMPTY_HISTORY = 'the order history is empty, which proves nothing';

/** Whether a search that shows no order says anything. */
interface Readability {
  readable: boolean;
  why: string;
}

/** The newest orders that the history lists. */
export interface NewestOrders {
  /** Some rows maybe twice. */
  rows: HistoryRow[];
  /** How far the partner's clock is ahead of ours, 0 where its answers do not show that. Waiting for the answer counts, too. */
  aheadMs: number;
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

/** Which end of the history is newest the partner does not say; its rows do, unless they are too few. */
export async function listNewest(partner: PartnerClient, now: () => number): Promise<NewestOrders> {
  const read = async (page?: number) => {
    const askedAt = now();
    const { data, sentAtMs = askedAt } = await partner.listOrders({ limit: SAMPLE, page });
    return { ...data, rows: [...data.orders, ...data.unreadable], aheadMs: Math.max(0, sentAtMs - askedAt) };
  };
  const first = await read();
  const times = first.orders.map(timeOf);
  const isNewestEnd = times.every((time, index) => time <= (times[index - 1] ?? time)) && times[0] !== times.at(-1);
  if (isNewestEnd || first.pages.total <= 1) return first;
  const { total } = first.pages;
  const last = await read(total);
  const pages = [first, last];
  // The last page may have one row only.
  if (last.rows.length < SAMPLE && total > 2) pages.push(await read(total - 1));
  return { rows: pages.flatMap(({ rows }) => rows), aheadMs: Math.max(...pages.map(({ aheadMs }) => aheadMs)) };
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
