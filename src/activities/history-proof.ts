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

/** Proves that a search which shows no order says something. */
export interface HistoryProof {
  /** Reads the newest orders, at most once within a twentieth of the confirmation window for all purchases of the process. */
  read(partner: PartnerClient): Promise<NewestOrders>;
  /**
   * Whether a search would have shown an order that exists: it finds the newest one listed, since an old one says nothing about an
   * index that lags. Where orders come in all the time the newest is always too new; then one placed after ours will do.
   *
   * @param sentBefore epoch ms: the order that is looked for was not placed later. If the partner's clock is ahead, as its answers
   *   show, the other order must be younger by that much.
   */
  isReadable(
    partner: PartnerClient,
    newest: NewestOrders,
    sentBefore: number,
  ): Promise<{ readable: boolean; why: string }>;
}

const FOUND = { readable: true, why: 'the search finds a known order' };

export function createHistoryProof({ settings, now }: Pick<ActivityDependencies, 'settings' | 'now'>): HistoryProof {
  const sharedForMs = settings.confirmWindowMs / 20;
  let last: { at: number; reading: Promise<NewestOrders> } | undefined;
  return {
    read(partner) {
      if (last && Math.abs(now() - last.at) < sharedForMs) return last.reading;
      const reading = readNewest(partner);
      last = { at: now(), reading };
      // A reading that failed proves nothing to others.
      reading.catch(() => (last = last?.reading === reading ? undefined : last));
      return reading;
    },
    async isReadable(partner, { rows, aheadMs, newestIsFound }, sentBefore) {
      if (newestIsFound) return FOUND;
      const known = newestFirst(rows);
      if (known.length === 0) return { readable: false, why: EMPTY_HISTORY };
      const later = known.findLast((order) => timeOf(order) > sentBefore + aheadMs);
      if (later && (await isFound(partner, later))) return FOUND;
      return { readable: false, why: 'the search does not find an order known to exist' };
    },
  };
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
