import type { CheckoutEvent } from '../../src/contracts/events';
import type { LedgerOrder, Sandbox } from '../../sandbox';
import type { Starter } from '../../src/starter/index';
import type { Receiver } from './receiver';

/** What the partner has of a purchase, and what the checkout got. */
export interface PurchaseAudit {
  /** The partner's orders under the reference, oldest first. */
  orders: LedgerOrder[];
  orderCount: number;
  /** How many place-order requests with this reference the partner has read. */
  requests: number;
  /** The values of the keys that the partner has issued, sorted. */
  issued: string[];
  /** The values of the keys that the checkout has, sorted: it keeps them by product and id, however often they come. */
  received: string[];
  /** The events that the checkout counts as received, in their order. */
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

/** The values of the keys that the partner has issued in these orders, sorted. */
export function keysOf(...orders: LedgerOrder[]): string[] {
  return orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value))).toSorted();
}

/** What a checkout has that keeps each key by its product and id. */
export function keptKeys(events: readonly CheckoutEvent[]): string[] {
  const kept = new Map<string, string>();
  for (const { data } of events) {
    for (const { productId, keys = [] } of data.lines ?? []) {
      for (const { id, value } of keys) kept.set(`${productId} ${id}`, value);
    }
  }
  return [...kept.values()].toSorted();
}

/** The partner's orders against the checkout's events, for many purchases, where nothing is wrong. */
export const FLAWLESS = {
  /** References with more than one order. */
  boughtTwice: [] as string[],
  /** References with an order that the purchase does not know: it ended, or waits for a person, without it. */
  lostPurchases: [] as string[],
  /** Keys that were issued and not received, by reference. */
  lostKeys: [] as string[],
  /** Keys that were received more often than they were issued, by reference. */
  keysTwice: [] as string[],
  /** Keys that were received and never issued, by reference. */
  foreignKeys: [] as string[],
  /** Ids of events that came again with other keys, and of keys that came again with another value. */
  changedEvents: [] as string[],
  /** Purchases without an order that wait for a person. Right, where nobody may place again. */
  unplaced: [] as string[],
};

export type Audit = typeof FLAWLESS;

/** Compares, for each reference, the partner's orders with every event that the checkout counts as received. */
export async function auditAll(parts: Parts & { starter: Starter }, references: readonly string[]): Promise<Audit> {
  const audit = structuredClone(FLAWLESS);
  for (const referenceId of references) {
    const { orders, issued, received } = await auditPurchase(parts, referenceId);
    const { orderId, state } = await parts.starter.status(referenceId);
    if (orders.length > 1) audit.boughtTwice.push(referenceId);
    if (orders.length > 0 && !orders.some(({ id }) => id === orderId)) audit.lostPurchases.push(referenceId);
    if (orders.length === 0 && state === 'HELD') audit.unplaced.push(referenceId);
    if (without(issued, received).length > 0) audit.lostKeys.push(referenceId);
    const surplus = without(received, issued);
    if (surplus.some((key) => issued.includes(key))) audit.keysTwice.push(referenceId);
    if (surplus.some((key) => !issued.includes(key))) audit.foreignKeys.push(referenceId);
  }
  const ofThese = new Set(references);
  audit.changedEvents = changedEvents(parts.receiver, ({ data }) => ofThese.has(data.referenceId));
  return audit;
}

/** What is left of a list when each entry of another takes one away. */
function without(keys: readonly string[], others: readonly string[]): string[] {
  const left = [...keys];
  for (const other of others) {
    const at = left.indexOf(other);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}

/**
 * Ids of events that came again with other keys, and of keys that came again with another value, whatever any attempt was
 * answered. There must be none.
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
