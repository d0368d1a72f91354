import { toDecimal } from './currency';
import type { Key } from './keys';
import { keyCount, type Order, type Origin } from './ledger';
import type { SandboxState } from './state';

/** An order in the ledger. Money is a decimal number in the account's currency. */
export interface LedgerOrder {
  id: string;
  referenceId: string;
  origin: Origin;
  status: string;
  createdAt: string;
  items: LedgerItem[];
  /** Amount charged, including any later refund. */
  debited: number;
  refunded: number;
  /** Number of keys available at the current status. */
  keysIssued: number;
}

export interface LedgerItem {
  id: string;
  quantity: number;
  keysIssued: number;
  /** Present only if the report was requested with keys. */
  keys?: Key[];
}

/** Everything ordered, paid for and issued: the reference for tests. `balance` is `opening - debited + refunded`. */
export interface LedgerReport {
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
  /** More than one order under a reference means a double purchase. */
  references: { referenceId: string; orders: LedgerOrder[] }[];
}

/** Reports the whole ledger. Unlike a poll, this does not age any order. */
export async function reportLedger(
  { ledger, settings }: SandboxState,
  options: { keys: boolean },
): Promise<LedgerReport> {
  ledger.updateAll();
  const references = [];
  for (const [referenceId, orders] of ledger.references()) {
    references.push({
      referenceId,
      orders: await Promise.all(orders.map((order) => reportOrder(ledger, order, options))),
    });
  }
  const { openingMinor, debitedMinor, refundedMinor } = ledger.account;
  return {
    opening: toDecimal(openingMinor),
    balance: toDecimal(ledger.balanceMinor),
    creditLimit: settings.creditLimit,
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

export async function reportOrder(
  ledger: SandboxState['ledger'],
  order: Order,
  { keys }: { keys: boolean },
): Promise<LedgerOrder> {
  ledger.update(order);
  const items = order.lines.map(async ({ product, quantity }, at): Promise<LedgerItem> => {
    const item = { id: product.id, quantity, keysIssued: keyCount(order, at) };
    return keys ? { ...item, keys: await ledger.keys(order, at) } : item;
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
