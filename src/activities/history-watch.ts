import { performance } from 'node:perf_hooks';
import { log } from '@temporalio/activity';
import type { PollUntilEndedInput } from '../contracts/activities';
import { CLOCK_TOLERANCE_MS, mayHaveEnded, safeStatus } from '../domain/order';
import { errorName } from '../domain/safe-values';
import { type HistoryRow, isPartnerError, isUnreadable, type PartnerClient } from '../partner';
import { ACCESS_DENIED } from './failures';

type WatchedOrder = Pick<PollUntilEndedInput, 'orderId' | 'referenceId' | 'purchaseStartedAt' | 'intervalMs'>;

/** The order history, read in the background for all orders that this process polls. */
export interface HistoryWatch {
  /**
   * Uses the last complete reading without waiting, and starts a new one if it is due.
   * @returns why the order need not be polled now; undefined if a poll is due
   */
  skipReason(order: WatchedOrder): string | undefined;
}

/** After this many poll intervals, an order that nobody asks about is dropped from the readings. */
const FORGOTTEN_AFTER = 4;
/** For how many poll intervals a reading can be used. */
const USABLE_FOR = 2;
/** A longer history is not read. Its orders are then polled only on every twentieth attempt. */
const MAX_PAGES = 200;

interface Watched extends WatchedOrder {
  firstAskedAt: number;
  askedAt: number;
}

interface Reading {
  beganAt: number;
  endedAt: number;
  /** The status of each order that the history showed, by `keyOf`. */
  statuses: ReadonlyMap<string, string>;
}

/**
 * @param stopping ends a reading when the process stops.
 * @param now milliseconds of a monotonic clock.
 */
export function createHistoryWatch(
  partner: PartnerClient,
  stopping: AbortSignal,
  now: () => number = () => performance.now(),
): HistoryWatch {
  const watched = new Map<string, Watched>();
  let last: Reading | undefined;
  let begunAt = -Infinity;
  let notBefore = -Infinity;
  let isReading = false;

  async function read(): Promise<void> {
    isReading = true;
    begunAt = now();
    const orders = [...watched.values()];
    try {
      const statuses = await readStatuses(partner, orders, stopping);
      last = { beganAt: begunAt, endedAt: now(), statuses };
    } catch (error) {
      const reason = isPartnerError(error) ? error.message : errorName(error);
      if (isPartnerError(error)) notBefore = now() + (error.retryAfterMs ?? 0);
      if (isPartnerError(error) && error.kind === 'access') log.error(ACCESS_DENIED, { reason });
      if (!stopping.aborted)
        log.warn('the order history could not be read, so the open orders were not checked', { reason });
    } finally {
      isReading = false;
    }
  }

  return {
    skipReason(order) {
      const name = keyOf(order);
      const at = now();
      const { firstAskedAt = at } = watched.get(name) ?? {};
      watched.set(name, { ...order, firstAskedAt, askedAt: at });
      if (!isReading && at >= notBefore && at - begunAt >= order.intervalMs && !stopping.aborted) {
        for (const [one, { askedAt, intervalMs }] of watched) {
          if (at - askedAt > FORGOTTEN_AFTER * intervalMs) watched.delete(one);
        }
        void read();
      }
      if (!last || at - last.endedAt > USABLE_FOR * order.intervalMs) return 'the order history is being read';
      const status = last.statuses.get(name);
      if (status !== undefined) return mayHaveEnded(status) ? undefined : `${safeStatus(status)} in the order history`;
      // A reading that started before this order was first asked about may not show it.
      return last.beganAt < firstAskedAt ? 'the order history does not show it yet' : undefined;
    },
  };
}

/** Reads back to the oldest order, or until all orders have been seen. */
async function readStatuses(
  partner: PartnerClient,
  orders: readonly WatchedOrder[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const wanted = new Set(orders.map(keyOf));
  const statuses = new Map<string, string>();
  const since = orders.reduce((oldest, order) => Math.min(oldest, order.purchaseStartedAt), Infinity);
  const onRows = (rows: readonly HistoryRow[]) => {
    for (const row of rows) {
      if (isUnreadable(row)) continue;
      const name = keyOf({ orderId: row.id, referenceId: row.referenceId ?? '' });
      // An order may have a row for each item. One that is no longer open is enough for a poll.
      const other = statuses.get(name);
      if (wanted.has(name) && !(other && mayHaveEnded(other))) statuses.set(name, row.status);
    }
  };
  await partner.withPermits({ class: 'poll', signal }, async (permitted) => {
    const pages = permitted.ordersSince(since - CLOCK_TOLERANCE_MS, { maxPages: MAX_PAGES, onRows });
    try {
      for await (const _ of pages) if (statuses.size === wanted.size) break;
    } catch (error) {
      // An order that was not shown is polled.
      if (!isPartnerError(error) || error.kind !== 'incomplete') throw error;
    }
  });
  return statuses;
}

/** A row must have exactly the purchase's order id and reference. Neither contains a space. */
function keyOf({ orderId, referenceId }: Pick<WatchedOrder, 'orderId' | 'referenceId'>): string {
  return `${orderId} ${referenceId}`;
}
