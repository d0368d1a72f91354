import { groupBy } from '../group-by';
import { sumOfAmounts } from '../money';
import { isBillable, presentableStatus } from '../order';
import type { KnownPurchase, PartnerOrder, RecordIndex } from './records';

/** Sums for the report. Amounts are exact in decimals, in the partner's currency. */
export interface Totals {
  /** By the partner's status, made presentable. */
  byStatus: Record<string, { orders: number; amount: number }>;
  /**
   * Sorted; days without orders are left out. `delivered` counts orders with keys handed over here; `amount` leaves out
   * failed and refunded orders.
   */
  days: { day: string; orders: number; delivered: number; amount: number }[];
  /** How many purchases were closed in each of the 24 hours of the day. */
  hours: number[];
}

/** Turns epoch ms into days (`2026-01-31`) and hours (0 to 23) of the report's time zone. */
export interface Calendar {
  dayOf(epochMs: number): string;
  hourOf(epochMs: number): number;
}

/** Sums up the records for the report. Linear. */
export function totalsOf(records: RecordIndex, calendar: Calendar): Totals {
  const orders = [...records.orders.values()];
  const byStatus = groupBy(orders, ({ status }) => presentableStatus(status));
  const byDay = groupBy(orders, ({ createdAt }) => calendar.dayOf(createdAt));
  return {
    byStatus: Object.fromEntries(
      sorted(byStatus).map(([status, group]) => [status, { orders: group.length, amount: amountOf(group) }]),
    ),
    days: sorted(byDay).map(([day, group]) => ({
      day,
      orders: group.length,
      delivered: group.filter((order) => isDelivered(order, records)).length,
      amount: amountOf(group.filter(isBillable)),
    })),
    hours: hoursOf(records.purchases.values(), calendar),
  };
}

function isDelivered({ id, referenceId }: PartnerOrder, { purchases, owners }: RecordIndex): boolean {
  const purchase = purchases.get(owners.get(id) ?? referenceId ?? '');
  const isOwn = purchase?.orderId === undefined || purchase.orderId === id;
  return isOwn && (purchase?.delivered ?? 0) > 0;
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

function amountOf(orders: readonly PartnerOrder[]): number {
  return sumOfAmounts(orders.map((order) => order.amount));
}

function sorted<T>(groups: Map<string, T>): [string, T][] {
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
