import type { CheckoutEvent } from '../../src/contracts/events';
import type { LedgerOrder, Sandbox } from '../../sandbox';
import type { Starter } from '../../src/starter/index';
import type { Receiver } from './receiver';

/** The partner's and the checkout's records of a purchase. */
export interface PurchaseAudit {
  /** The partner's orders with this reference, oldest first. */
  orders: LedgerOrder[];
  orderCount: number;
  /** How many place-order requests with this reference the partner has read. */
  requests: number;
  /** The values of all keys that the partner issued, sorted. */
  issued: string[];
  /** The values of all keys that the checkout stored, sorted. It stores each product and key id once. */
  received: string[];
  /** The events that the checkout received, in order. */
  events: CheckoutEvent[];
}

interface Parts {
  sandbox: Sandbox;
  receiver: Receiver;
}

export async function auditPurchase({ sandbox, receiver }: Parts, referenceId: string): Promise<PurchaseAudit> {
  const orders = await sandbox.ordersOf(referenceId);
  const events = receiver.eventsOf(referenceId);
  return {
    orders,
    orderCount: orders.length,
    requests: sandbox.placeRequestsOf(referenceId),
    issued: keysOf(...orders),
    received: keptKeys(events),
    events,
  };
}

/** The values of the keys in these orders, sorted. */
export function keysOf(...orders: LedgerOrder[]): string[] {
  return orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value))).toSorted();
}

/** The key values of a checkout that stores keys by product and key id, sorted. */
export function keptKeys(events: readonly CheckoutEvent[]): string[] {
  const kept = new Map<string, string>();
  for (const { data } of events) {
    for (const { productId, keys = [] } of data.lines ?? []) {
      for (const { id, value } of keys) kept.set(`${productId} ${id}`, value);
    }
  }
  return [...kept.values()].toSorted();
}

/** An audit of many purchases that found no problem. */
export const NO_FLAWS = {
  /** References with more than one order. */
  boughtTwice: [] as string[],
  /** References with orders, none of which the purchase knows. */
  lostPurchases: [] as string[],
  /** References with keys that were issued but not received. */
  lostKeys: [] as string[],
  /** References with keys that were received more often than issued. */
  keysTwice: [] as string[],
  /** References with keys that were received but never issued. */
  foreignKeys: [] as string[],
  /** Ids of events that were repeated with other keys, and of keys that were repeated with another value. */
  changedEvents: [] as string[],
  /** Held purchases without an order. These are correct if the policy forbids a new placement. */
  unplaced: [] as string[],
};

export type Audit = typeof NO_FLAWS;

/** Compares the partner's orders of each reference with the events that the checkout received. */
export async function auditAll(parts: Parts & { starter: Starter }, references: readonly string[]): Promise<Audit> {
  const audit = structuredClone(NO_FLAWS);
  for (const referenceId of references) {
    const { orders, issued, received } = await auditPurchase(parts, referenceId);
    const { orderId, state } = await parts.starter.status(referenceId);
    if (orders.length > 1) audit.boughtTwice.push(referenceId);
    if (orders.length > 0 && !orders.some(({ id }) => id === orderId)) audit.lostPurchases.push(referenceId);
    if (orders.length === 0 && state === 'HELD') audit.unplaced.push(referenceId);
    if (without(issued, received).length > 0) audit.lostKeys.push(referenceId);
    const unexpected = without(received, issued);
    if (unexpected.some((key) => issued.includes(key))) audit.keysTwice.push(referenceId);
    if (unexpected.some((key) => !issued.includes(key))) audit.foreignKeys.push(referenceId);
  }
  const ofThese = new Set(references);
  audit.changedEvents = changedEvents(parts.receiver, ({ data }) => ofThese.has(data.referenceId));
  return audit;
}

/** The keys that remain after each of `others` has removed one equal key. */
function without(keys: readonly string[], others: readonly string[]): string[] {
  const left = [...keys];
  for (const other of others) {
    const at = left.indexOf(other);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}

/**
 * Ids of events that were repeated with other keys, and of keys that were repeated with another value, in all attempts,
 * even rejected ones. There must be none.
 */
export function changedEvents(
  { attempts }: Pick<Receiver, 'attempts'>,
  concerns: (event: CheckoutEvent) => boolean = () => true,
): string[] {
  const first = new Map<string, string>();
  const changed = new Set<string>();
  const compare = (id: string, name: string, value: string) => {
    if ((first.get(name) ?? value) !== value) changed.add(id);
    first.set(name, value);
  };
  for (const { id, body } of attempts.filter((attempt) => concerns(attempt.body))) {
    const { referenceId, orderId, lines = [] } = body.data;
    const keys = lines.flatMap(({ productId, keys: own = [] }) => own.map((key) => ({ productId, ...key })));
    const ids = keys.map((key) => `${key.productId} ${key.id}`).toSorted();
    compare(id, id, JSON.stringify([body.type, referenceId, orderId, ids]));
    for (const key of keys) {
      compare(key.id, JSON.stringify([referenceId, key.productId, key.id]), JSON.stringify([key.type, key.value]));
    }
  }
  return [...changed];
}
