import { addAmount, fromMicros } from '../money';
import { isBillable, presentableStatus } from '../order';
import type { KnownPurchase, OwnershipIndex, PartnerOrder } from './records';

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

interface Sum {
  orders: number;
  delivered: number;
  micros: bigint;
}

/** Sums up the records for the report. Linear. */
export function totalsOf(records: OwnershipIndex, calendar: Calendar): Totals {
  const byStatus = new Map<string, Sum>();
  const byDay = new Map<string, Sum>();
  for (const order of records.orders.values()) {
    const { amount } = order;
    const delivered = isDelivered(order, records);
    add(byStatus, presentableStatus(order.status), { delivered, amount });
    add(byDay, calendar.dayOf(order.createdAt), { delivered, amount: isBillable(order) ? amount : undefined });
  }
  return {
    byStatus: Object.fromEntries(
      sorted(byStatus).map(([status, { orders, micros }]) => [status, { orders, amount: fromMicros(micros) }]),
    ),
    days: sorted(byDay).map(([day, { orders, delivered, micros }]) => ({
      day,
      orders,
      delivered,
      amount: fromMicros(micros),
    })),
    hours: hoursOf(records.purchases.values(), calendar),
  };
}

function add(sums: Map<string, Sum>, name: string, order: { delivered: boolean; amount: number | undefined }): void {
  const sum = sums.get(name) ?? { orders: 0, delivered: 0, micros: 0n };
  sum.orders += 1;
  sum.delivered += order.delivered ? 1 : 0;
  sum.micros = addAmount(sum.micros, order.amount);
  sums.set(name, sum);
}

function isDelivered({ id, referenceId }: PartnerOrder, { purchases, owners }: OwnershipIndex): boolean {
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

function sorted<T>(sums: Map<string, T>): [string, T][] {
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
