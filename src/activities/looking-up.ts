import { activityInfo } from '@temporalio/activity';
import type { Activities, FoundOrder, HistoryLook } from '../contracts/activities';
import { presentableStatus } from '../domain/order';
import type { HistoryOrder, PartnerClient } from '../partner';
import type { ActivityDependencies } from './index';
import { toFailure } from './failures';

type Hands = Pick<Activities, 'lookUpOrders'>;

/** The partner's clock and Temporal's may differ by so much: an order this much older than a purchase is not its own. */
const CLOCK_TOLERANCE_MS = 15 * 60_000;
const PAGE = 500;
/** Beyond this many pages a scan gives up: 100,000 orders younger than one purchase are no history to scan. */
const MAX_PAGES = 200;

/** Looks in the partner's order history, which is the only witness of a placement without an answer. */
export function createLookingUp(deps: ActivityDependencies): Hands {
  return {
    async lookUpOrders(input): Promise<HistoryLook> {
      const runId = activityInfo().workflowExecution?.runId ?? '';
      try {
        const found = await findOrders(deps.partner, input.referenceId, input.since);
        if (found.orders.length > 0 || !input.prove) return { runId, ...found, readable: false };
        return { runId, orders: [], ...(await proveReadable(deps.partner, found)) };
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

interface Found {
  orders: FoundOrder[];
  /** How it was looked for. A search may be ignored by the partner; then the history itself is scanned. */
  how: 'search' | 'scan';
  /** Rows that the partner showed, ours or not. */
  rowsSeen: number;
  why: string;
}

/**
 * Finds the orders that bear exactly this reference, byte for byte: a search may be fuzzy. If the answer shows that the
 * search was ignored, the history is scanned back to `since`.
 *
 * @throws PartnerError when the history could not be read to the end.
 */
export async function findOrders(partner: PartnerClient, referenceId: string, since: number): Promise<Found> {
  const { data } = await partner.listOrders({ search: referenceId, limit: PAGE });
  const rows = [...data.orders];
  if (rows.every((row) => mentions(row, referenceId))) {
    for (let page = 2; page <= Math.min(data.pages.total, MAX_PAGES); page++) {
      rows.push(...(await partner.listOrders({ search: referenceId, limit: PAGE, page })).data.orders);
    }
    return { orders: matching(rows, referenceId), how: 'search', rowsSeen: rows.length, why: 'searched' };
  }
  return scan(partner, referenceId, since);
}

/**
 * Reads the history from its newest end back to `since`. Which end is newest is seen from the first and the last page.
 * New orders shift a newest-first list forward, so that rows come twice and none is missed; an oldest-first list grows at
 * the end that was read first, which is read once more.
 */
async function scan(partner: PartnerClient, referenceId: string, since: number): Promise<Found> {
  const horizon = since - CLOCK_TOLERANCE_MS;
  const read = async (page: number) => (await partner.listOrders({ limit: PAGE, page })).data;
  const first = await read(1);
  const rows = [...first.orders];
  const total = Math.min(first.pages.total, MAX_PAGES);

  if (total > 1) {
    const last = await read(total);
    rows.push(...last.orders);
    const newestFirst = newest(first.orders) >= newest(last.orders);
    const pages = newestFirst ? ascending(2, total - 1) : ascending(2, total - 1).toReversed();
    let reached = oldest(newestFirst ? first.orders : last.orders) < horizon;
    for (const page of pages) {
      if (reached) break;
      const next = await read(page);
      rows.push(...next.orders);
      reached = oldest(next.orders) < horizon;
    }
    if (!newestFirst) rows.push(...(await readOn(read, total, last.pages.total)));
  }
  return {
    orders: matching(rows, referenceId),
    how: 'scan',
    rowsSeen: rows.length,
    why: 'scanned, the search is ignored',
  };
}

async function readOn(
  read: (page: number) => Promise<{ orders: HistoryOrder[] }>,
  from: number,
  to: number,
): Promise<HistoryOrder[]> {
  const rows: HistoryOrder[] = [];
  for (const page of ascending(from, Math.max(from, to))) rows.push(...(await read(page)).orders);
  return rows;
}

/**
 * Whether the history would have shown an order that exists: an order that is known to exist is found by the same query.
 * An empty history proves nothing.
 */
async function proveReadable(partner: PartnerClient, found: Found): Promise<{ readable: boolean; why: string }> {
  if (found.how === 'scan') {
    const readable = found.rowsSeen > 0;
    return { readable, why: readable ? found.why : 'the order history is empty, which proves nothing' };
  }
  const { data } = await partner.listOrders({ limit: 1 });
  const known = data.orders.find((row) => row.referenceId);
  if (!known?.referenceId) return { readable: false, why: 'the order history is empty, which proves nothing' };
  const again = await partner.listOrders({ search: known.referenceId, limit: PAGE });
  const readable = again.data.orders.some((row) => row.id === known.id);
  return {
    readable,
    why: readable ? 'the search finds a known order' : 'the search does not find an order known to exist',
  };
}

function mentions(row: HistoryOrder, text: string): boolean {
  const wanted = text.toLowerCase();
  return [row.referenceId, row.id].some((id) => id?.toLowerCase().includes(wanted));
}

function matching(rows: readonly HistoryOrder[], referenceId: string): FoundOrder[] {
  const own = new Map(rows.filter((row) => row.referenceId === referenceId).map((row) => [row.id, row]));
  return [...own.values()]
    .map((row) => ({ id: row.id, status: presentableStatus(row.status), createdAt: row.createdAt }))
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
}

function newest(rows: readonly HistoryOrder[]): number {
  return Math.max(...rows.map((row) => Date.parse(row.createdAt) || 0));
}

function oldest(rows: readonly HistoryOrder[]): number {
  return Math.min(...rows.map((row) => Date.parse(row.createdAt) || Infinity));
}

function ascending(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
