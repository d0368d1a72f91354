import {
  byReadability,
  type HistoryOrder,
  type HistoryRow,
  MAX_PAGE_SIZE,
  type NewestOrders as ListedNewest,
  type PartnerClient,
} from '../partner';
import type { ActivityDependencies } from './dependencies';

/** How many orders are read at an end of the history: for the newest one, and for one that the search does not show. */
const SAMPLE = 100;

/** Why nothing can be called absent. */
export const EMPTY_HISTORY = 'the order history is empty, which proves nothing';

/** The newest orders that the history lists. */
interface NewestOrders extends ListedNewest {
  /** Whether the search finds the newest of them. */
  newestIsFound: boolean;
}

type KnownOrder = HistoryOrder & { referenceId: string };

const FOUND = { readable: true, why: 'the search finds a known order' };

export type ReadNewest = (partner: PartnerClient) => Promise<NewestOrders>;

/** Reads the newest orders, at most once within a twentieth of the confirmation window for all purchases of the process. */
export function createNewestReader({ settings, now }: Pick<ActivityDependencies, 'settings' | 'now'>): ReadNewest {
  const sharedForMs = settings.confirmWindowMs / 20;
  let last: { at: number; reading: Promise<NewestOrders> } | undefined;
  return (partner) => {
    if (last && Math.abs(now() - last.at) < sharedForMs) return last.reading;
    const reading = readNewest(partner);
    last = { at: now(), reading };
    // A reading that failed proves nothing to others.
    reading.catch(() => (last = last?.reading === reading ? undefined : last));
    return reading;
  };
}

/**
 * Whether a search would have shown an order that exists: it finds the newest one listed, since an old one says nothing about an
 * index that lags. Where orders come in all the time the newest is always too new; then one placed after ours will do.
 *
 * @param sentBefore epoch ms: the order that is looked for was not placed later.
 */
export async function proveReadable(
  partner: PartnerClient,
  { rows, aheadMs, newestIsFound }: NewestOrders,
  sentBefore: number,
): Promise<{ readable: boolean; why: string }> {
  if (newestIsFound) return FOUND;
  const known = newestFirst(rows);
  if (known.length === 0) return { readable: false, why: EMPTY_HISTORY };
  // If the partner's clock is ahead, the other order must be younger by that much.
  const later = known.findLast((order) => timeOf(order) > sentBefore + aheadMs);
  if (later && (await isFound(partner, later))) return FOUND;
  return { readable: false, why: 'the search does not find an order known to exist' };
}

async function readNewest(partner: PartnerClient): Promise<NewestOrders> {
  const listed = await partner.newestOrders(SAMPLE);
  const [newest] = newestFirst(listed.rows);
  return { ...listed, newestIsFound: newest !== undefined && (await isFound(partner, newest)) };
}

async function isFound(partner: PartnerClient, known: KnownOrder): Promise<boolean> {
  const { data } = await partner.listOrders({ search: known.referenceId, limit: MAX_PAGE_SIZE });
  return data.orders.some((row) => row.id === known.id);
}

function newestFirst(rows: readonly HistoryRow[]): KnownOrder[] {
  return byReadability<HistoryOrder>(rows)
    .readable.filter((order): order is KnownOrder => Boolean(order.referenceId))
    .toSorted((one, other) => timeOf(other) - timeOf(one));
}

function timeOf({ createdAt }: HistoryOrder): number {
  return Date.parse(createdAt);
}
