import { toDecimal } from './currency';
import type { Key } from './keys';
import { keyCount, type Order, type Origin } from './ledger';
import type { World } from './world';

/** An order as the sandbox's own books have it. Money is in the account's currency, as decimal numbers. */
export interface BookedOrder {
  id: string;
  referenceId: string;
  origin: Origin;
  status: string;
  createdAt: string;
  items: BookedItem[];
  /** Charged for it, whether or not it was given back later. */
  debited: number;
  refunded: number;
  /** Keys that its status lets out now. */
  keysIssued: number;
}

export interface BookedItem {
  id: string;
  quantity: number;
  keysIssued: number;
  /** Only where the books were asked for with keys. */
  keys?: Key[];
}

/** The judge of every test: what was really ordered, paid and issued. `balance` is `opening - debited + refunded`. */
export interface Books {
  opening: number;
  balance: number;
  creditLimit: number;
  totals: {
    orders: number;
    references: number;
    debited: number;
    refunded: number;
    keysIssued: number;
    byStatus: { status: string; orders: number }[];
  };
  /** More than one order under a reference was bought more than once. */
  references: { referenceId: string; orders: BookedOrder[] }[];
}

/** Reading the books moves nothing: no order grows older by it. */
export async function readBooks(world: World, withKeys: boolean): Promise<Books> {
  const { ledger } = world;
  ledger.settleAll();
  const references = [];
  for (const [referenceId, orders] of ledger.references()) {
    references.push({ referenceId, orders: await Promise.all(orders.map((order) => booked(world, order, withKeys))) });
  }
  const { openingMinor, debitedMinor, refundedMinor } = ledger.account;
  return {
    opening: toDecimal(openingMinor),
    balance: toDecimal(ledger.balanceMinor),
    creditLimit: world.settings.creditLimit,
    totals: {
      orders: ledger.orders.length,
      references: references.length,
      debited: toDecimal(debitedMinor),
      refunded: toDecimal(refundedMinor),
      keysIssued: ledger.orders.reduce((total, order) => total + keysIssued(order), 0),
      byStatus: countByStatus(ledger.orders),
    },
    references,
  };
}

/** One order of the books. */
export async function booked(world: World, order: Order, withKeys: boolean): Promise<BookedOrder> {
  world.ledger.settle(order);
  const items = order.lines.map(async ({ product, quantity }, at): Promise<BookedItem> => {
    const item = { id: product.id, quantity, keysIssued: keyCount(order, at) };
    return withKeys ? { ...item, keys: await world.ledger.keys(order, at) } : item;
  });
  return {
    id: order.id,
    referenceId: order.referenceId,
    origin: order.origin,
    status: order.state.status,
    createdAt: new Date(order.createdAtMs).toISOString(),
    items: await Promise.all(items),
    debited: toDecimal(order.state.debitedMinor),
    refunded: toDecimal(order.state.refundedMinor),
    keysIssued: keysIssued(order),
  };
}

function keysIssued(order: Order): number {
  return order.lines.reduce((total, _, at) => total + keyCount(order, at), 0);
}

function countByStatus(orders: readonly Order[]): { status: string; orders: number }[] {
  const counts = new Map<string, number>();
  for (const { state } of orders) counts.set(state.status, (counts.get(state.status) ?? 0) + 1);
  return [...counts].map(([status, count]) => ({ status, orders: count }));
}
