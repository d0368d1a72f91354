import {
  partitionByReadability,
  type HistoryOrder,
  type HistoryRow,
  MAX_PAGE_SIZE,
  type NewestOrders as ListedNewest,
  type PartnerClient,
} from '../partner';
import type { ActivityDependencies } from './dependencies';

/** How many of the newest orders are read. */
const SAMPLE = 100;

/** Why an order can't be considered absent. */
export const EMPTY_HISTORY = 'the order history is empty, which proves nothing';

/** The newest orders that the history lists. */
interface NewestOrders extends ListedNewest {
  /** Whether the search finds the newest of these orders. */
  newestIsFound: boolean;
}

type KnownOrder = HistoryOrder & { referenceId: string };

const FOUND = { provesAbsence: true, reason: 'the search finds a known order' };

export type ReadNewest = (partner: PartnerClient) => Promise<NewestOrders>;

/**
 * Reads the newest orders. All purchases of the process share a reading for 5% of the confirmation window, but at most
 * for 3 s, because a purchase may have started with a shorter window.
 */
export function createNewestReader({ settings, now }: Pick<ActivityDependencies, 'settings' | 'now'>): ReadNewest {
  const sharedForMs = Math.min(settings.confirmWindowMs / 20, 3_000);
  let last: { at: number; reading: Promise<NewestOrders> } | undefined;
  return (partner) => {
    if (last && Math.abs(now() - last.at) < sharedForMs) return last.reading;
    const reading = readNewest(partner);
    last = { at: now(), reading };
    // A failed reading is not shared.
    reading.catch(() => (last = last?.reading === reading ? undefined : last));
    return reading;
  };
}

/**
 * Whether the search would have found this purchase's order if it existed. It must find the newest listed order,
 * because an index may lag. On a busy account the newest order may be too new; then any order placed after this one is
 * enough.
 *
 * @param sentBefore epoch ms: this purchase's order was placed no later than this.
 */
export async function proveReadable(
  partner: PartnerClient,
  { rows, aheadMs, newestIsFound }: NewestOrders,
  sentBefore: number,
): Promise<{ provesAbsence: boolean; reason: string }> {
  if (newestIsFound) return FOUND;
  const known = newestFirst(rows);
  if (known.length === 0) return { provesAbsence: false, reason: EMPTY_HISTORY };
  // The partner's clock may be ahead of ours.
  const later = known.findLast((order) => orderTime(order) > sentBefore + aheadMs);
  if (later && (await isFound(partner, later))) return FOUND;
  return { provesAbsence: false, reason: 'the search does not find an order that is known to exist' };
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
  return partitionByReadability<HistoryOrder>(rows)
    .readable.filter((order): order is KnownOrder => Boolean(order.referenceId))
    .toSorted((one, other) => orderTime(other) - orderTime(one));
}

function orderTime({ createdAt }: HistoryOrder): number {
  return Date.parse(createdAt);
}
