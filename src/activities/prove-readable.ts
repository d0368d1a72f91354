import { type HistoryOrder, MAX_PAGE_SIZE, type PartnerClient } from '../partner';

/** How many orders are read at an end of the history, to find the newest one. */
const SAMPLE = 20;

/** Whether a search that shows no order says anything. */
export interface Readability {
  readable: boolean;
  why: string;
}

type KnownOrder = HistoryOrder & { referenceId: string };

/**
 * Whether a search would have shown an order that exists: the newest one that the history lists is found by the same query. An
 * old one says nothing about an index that lags behind. Where orders come in all the time the newest is always too new; then
 * one will do that was placed later than the one that is looked for. An empty history proves nothing.
 *
 * @param sentBefore epoch ms: the order that is looked for was not placed later. The partner's clock may be ahead or behind, and
 *   by so much the second proof is stronger or weaker.
 */
export async function proveSearch(partner: PartnerClient, sentBefore: number): Promise<Readability> {
  const known = await newestOrders(partner);
  const [newest] = known;
  if (!newest) return { readable: false, why: 'the order history is empty, which proves nothing' };
  const later = known.findLast((order) => Date.parse(order.createdAt) > sentBefore);
  for (const order of new Set([newest, later ?? newest])) {
    if (await isFound(partner, order)) return { readable: true, why: 'the search finds a known order' };
  }
  return { readable: false, why: 'the search does not find an order known to exist' };
}

/** Which end of the history is newest the partner does not say; its rows do, unless they are too few. Newest first. */
async function newestOrders(partner: PartnerClient): Promise<KnownOrder[]> {
  const { orders, pages } = (await partner.listOrders({ limit: SAMPLE })).data;
  const times = orders.map(timeOf);
  const isNewestEnd = times.every((time, index) => time <= (times[index - 1] ?? time)) && times[0] !== times.at(-1);
  const others =
    isNewestEnd || pages.total <= 1 ? [] : (await partner.listOrders({ limit: SAMPLE, page: pages.total })).data.orders;
  return [...orders, ...others].filter(hasReference).toSorted((one, other) => timeOf(other) - timeOf(one));
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
