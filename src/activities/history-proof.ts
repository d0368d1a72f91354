import { CLOCK_TOLERANCE_MS } from '../domain/order';
import {
  partitionByReadability,
  type HistoryOptions,
  type HistoryOrder,
  type HistoryRow,
  isPartnerError,
  MAX_PAGE_SIZE,
  type PartnerClient,
  type PartnerError,
} from '../partner';
import type { ActivityDependencies } from './dependencies';

/** A search or scan gives up after this many: 100,000 orders younger than one purchase are too many to scan. */
export const MAX_PAGES = 200;

/** Why an order can't be considered absent. */
export const EMPTY_HISTORY = 'the order history is empty, which proves nothing';

/** The orders that the history lists back to some time, and perhaps older ones. */
interface ListedOrders {
  rows: HistoryRow[];
  gap?: PartnerError | undefined;
  /** Those that a search may find, newest first. */
  known: KnownOrder[];
  /** How far the partner's clock is ahead of ours, in ms, including the response time. 0 if unknown. */
  aheadMs: number;
  /** Whether the search finds the newest of these orders. */
  newestIsFound: boolean;
}

type KnownOrder = HistoryOrder & { referenceId: string };

const FOUND = { provesAbsence: true, reason: 'the search finds a known order' };

/**
 * The orders that the list shows back to some time, and perhaps older ones. With a `gap`, the list may hide others, so
 * an order that it does not show may exist.
 */
export async function listedSince(
  partner: PartnerClient,
  since: number,
  options: Pick<HistoryOptions, 'mustReachBack' | 'onClock'>,
): Promise<{ rows: HistoryRow[]; gap?: PartnerError }> {
  const rows: HistoryRow[] = [];
  try {
    for await (const page of partner.ordersSince(since - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES, ...options })) {
      for (const row of page) rows.push(row);
    }
  } catch (error) {
    if (!isPartnerError(error) || error.kind !== 'incomplete') throw error;
    return { rows, gap: error };
  }
  return { rows };
}

/** @param since epoch ms */
export type ReadListed = (partner: PartnerClient, since: number) => Promise<ListedOrders>;

/** Purchases share a reading if they started in the same ten minutes. */
const SHARED_START_MS = 600_000;

/**
 * Reads the list back to the start of a purchase. All purchases of the process that started at about the same time share
 * a reading for 5% of the confirmation window, but at most for 3 s, because one may have started with a shorter window.
 */
export function createListReader({ settings, now }: Pick<ActivityDependencies, 'settings' | 'now'>): ReadListed {
  const sharedForMs = Math.min(settings.confirmWindowMs / 20, 3_000);
  const readings = new Map<number, { at: number; reading: Promise<ListedOrders> }>();
  return (partner, since) => {
    for (const [start, { at }] of readings) if (Math.abs(now() - at) >= sharedForMs) readings.delete(start);
    const from = Math.floor(since / SHARED_START_MS) * SHARED_START_MS;
    const shared = readings.get(from);
    if (shared) return shared.reading;
    const own = { at: now(), reading: readListed(partner, from) };
    readings.set(from, own);
    // A failed reading is not shared.
    own.reading.catch(() => readings.get(from) === own && readings.delete(from));
    return own.reading;
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
  { known, aheadMs, newestIsFound }: ListedOrders,
  sentBefore: number,
): Promise<{ provesAbsence: boolean; reason: string }> {
  if (newestIsFound) return FOUND;
  if (known.length === 0) return { provesAbsence: false, reason: EMPTY_HISTORY };
  // The partner's clock may be ahead of ours.
  const later = known.findLast((order) => orderTime(order) > sentBefore + aheadMs);
  if (later && (await isFound(partner, later))) return FOUND;
  return { provesAbsence: false, reason: 'the search does not find an order that is known to exist' };
}

async function readListed(partner: PartnerClient, since: number): Promise<ListedOrders> {
  let aheadMs = 0;
  const onClock = (ahead: number) => (aheadMs = Math.max(aheadMs, ahead));
  const { rows, gap } = await listedSince(partner, since, { mustReachBack: true, onClock });
  const known = newestFirst(rows);
  const [newest] = known;
  // A list with a gap proves nothing, so it needs no search.
  const newestIsFound = !gap && newest !== undefined && (await isFound(partner, newest));
  return { rows, gap, known, aheadMs, newestIsFound };
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
