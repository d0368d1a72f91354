import {
  type PartnerOrder,
  type Finding,
  findingKey,
  reconcile,
  type ReconcileOptions,
  type KnownPurchase,
} from '../../domain/reconciliation/index';
import type { PurchaseReader } from '../../temporal/client';
import { describePurchase, type LaterDeliveries } from './purchase-lists';

/** A finding that the servers' own records bear out, with the purchase and the orders that it is about. */
export interface Confirmed {
  finding: Finding;
  purchase?: KnownPurchase;
  orders: PartnerOrder[];
}

/** Both books, looked up by reference and order. */
export interface Records {
  orders: readonly PartnerOrder[];
  purchases: readonly KnownPurchase[];
  concerning(finding: Finding): { orders: PartnerOrder[]; references: string[] };
}

export function recordsOf(orders: readonly PartnerOrder[], purchases: readonly KnownPurchase[]): Records {
  const orderById = new Map(orders.map((order) => [order.id, order]));
  const ordersByReference = groupBy(orders, (order) => order.referenceId);
  const ownersByOrder = groupBy(purchases, (purchase) => purchase.orderId);
  return {
    orders,
    purchases,
    concerning({ referenceId, orderIds }) {
      const named = orderIds.flatMap((id) => orderById.get(id) ?? []);
      const borne = (referenceId !== undefined && ordersByReference.get(referenceId)) || [];
      const concerned = [...new Set([...named, ...borne])];
      // Whose an order is decides what it means, also of those that only bear the same reference.
      const ids = [...orderIds, ...concerned.map((order) => order.id)];
      const owners = ids.flatMap((id) => ownersByOrder.get(id) ?? []).map((owner) => owner.referenceId);
      return {
        orders: concerned,
        references: [...new Set([...(referenceId === undefined ? [] : [referenceId]), ...owners])],
      };
    },
  };
}

/**
 * Finds again what two lists suggested, in what the server says of the purchases now: a list may be behind, and somebody may
 * have mended it meanwhile.
 *
 * @returns undefined when there is nothing left to find.
 */
export async function confirm(
  reader: PurchaseReader,
  books: Records,
  suggested: Finding,
  { later, ...options }: ReconcileOptions & { later: LaterDeliveries },
): Promise<Confirmed | undefined> {
  const { orders, references } = books.concerning(suggested);
  const described = await Promise.all(references.map((reference) => describePurchase(reader, reference, later)));
  const purchases = described.filter((purchase) => purchase !== undefined);
  const key = findingKey(suggested);
  const finding = reconcile(orders, purchases, options).find((found) => findingKey(found) === key);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  return finding && { finding, orders, ...(purchase && { purchase }) };
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
