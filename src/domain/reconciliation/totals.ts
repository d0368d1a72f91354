import { fromMicros, toMicros } from '../money';
import { presentableStatus } from '../order';
import { type PartnerOrder, type KnownPurchase, indexRecords } from './records';

/** What the two books add up to. Amounts are exact in decimals, in the partner's currency. */
export interface Totals {
  /** By the partner's status; words of no plain letters are `UNRECOGNISED`. */
  byStatus: Record<string, { orders: number; amount: number }>;
  /** In order, days without orders left out. `delivered` counts orders of which keys were handed over here; `amount` leaves failed and refunded orders out. */
  days: { day: string; orders: number; delivered: number; amount: number }[];
  /** When purchases were closed: how many in each hour of the day. */
  hours: number[];
}

/** How instants are told in days (`2026-01-31`) and hours (0 to 23) where the report is read. */
export interface Calendar {
  dayOf(epochMs: number): string;
  hourOf(epochMs: number): number;
}

/** Adds up the books for the report. Linear. */
export function totalsOf(
  orders: readonly PartnerOrder[],
  purchases: readonly KnownPurchase[],
  calendar: Calendar,
): Totals {
  const { byId, claimedBy, known } = indexRecords(orders, purchases);
  const byStatus = new Map<string, { orders: number; micros: bigint }>();
  const days = new Map<string, { orders: number; delivered: number; micros: bigint }>();
  for (const order of byId.values()) {
    const micros = toMicros(order.amount ?? 0) ?? 0n;
    const status = entryOf(byStatus, presentableStatus(order.status), { orders: 0, micros: 0n });
    status.orders += 1;
    status.micros += micros;

    const day = entryOf(days, calendar.dayOf(order.createdAt), { orders: 0, delivered: 0, micros: 0n });
    const owner = known.get(claimedBy.get(order.id) ?? order.referenceId ?? '');
    const isOwn = owner?.orderId === undefined || owner.orderId === order.id;
    day.orders += 1;
    if (isOwn && (owner?.delivered ?? 0) > 0) day.delivered += 1;
    if (order.status !== 'FAILED' && order.status !== 'REFUNDED') day.micros += micros;
  }
  return {
    byStatus: Object.fromEntries(
      sorted(byStatus).map(([status, { orders: count, micros }]) => [
        status,
        { orders: count, amount: fromMicros(micros) },
      ]),
    ),
    days: sorted(days).map(([day, { orders: count, delivered, micros }]) => ({
      day,
      orders: count,
      delivered,
      amount: fromMicros(micros),
    })),
    hours: hoursOf(known.values(), calendar),
  };
}

function hoursOf(purchases: Iterable<KnownPurchase>, calendar: Calendar): number[] {
  const hours = Array.from({ length: 24 }, () => 0);
  for (const { closedAt } of purchases) {
    if (closedAt === undefined) continue;
    const hour = calendar.hourOf(closedAt);
    hours[hour] = (hours[hour] ?? 0) + 1;
  }
  return hours;
}

function entryOf<T>(map: Map<string, T>, key: string, empty: T): T {
  const entry = map.get(key);
  if (entry !== undefined) return entry;
  map.set(key, empty);
  return empty;
}

function sorted<T>(map: Map<string, T>): [string, T][] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
