import type { DeliveryEventBody } from '../../src/delivery';
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
  /** The values of the keys that the checkout got in events that it counts as received, sorted. */
  received: string[];
  /** The events that the checkout counts as received, in their order. */
  events: DeliveryEventBody[];
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
    received: events.flatMap(keysOfEvent).toSorted(),
    events,
  };
}

/** The values of the keys that the partner has issued in these orders, sorted. */
export function keysOf(...orders: LedgerOrder[]): string[] {
  return orders.flatMap(({ items }) => items.flatMap(({ keys = [] }) => keys.map(({ value }) => value))).toSorted();
}

/** The values of the keys of an event, in their order. */
export function keysOfEvent({ data }: DeliveryEventBody): string[] {
  return (data.lines ?? []).flatMap(({ keys = [] }) => keys.map(({ value }) => value));
}

/** The partner's orders against the checkout's events, for many purchases. Every list must be empty but `unplaced`. */
export interface Audit {
  /** References with more than one order. */
  boughtTwice: string[];
  /** References with an order that the purchase does not know: it ended, or waits for a person, without it. */
  lostPurchases: string[];
  /** Keys that were issued and not received, by reference. */
  lostKeys: string[];
  /** Keys that were received more often than they were issued, by reference. */
  keysTwice: string[];
  /** Keys that were received and never issued, by reference. */
  foreignKeys: string[];
  /** Ids of events that came again with other keys. */
  changedEvents: string[];
  /** Purchases without an order that wait for a person. Right, where nobody may place again. */
  unplaced: string[];
}

/** Nothing wrong at all. */
export const FLAWLESS: Audit = {
  boughtTwice: [],
  lostPurchases: [],
  lostKeys: [],
  keysTwice: [],
  foreignKeys: [],
  changedEvents: [],
  unplaced: [],
};

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

/** Ids of events that came again with other keys, whatever any attempt was answered. There must be none. */
export function changedEvents(
  { attempts }: Receiver,
  concerns: (event: DeliveryEventBody) => boolean = () => true,
): string[] {
  const first = new Map<string, string>();
  const changed = new Set<string>();
  for (const { id, body } of attempts.filter((attempt) => concerns(attempt.body))) {
    const goods = JSON.stringify([body.type, body.data.referenceId, body.data.orderId, body.data.lines]);
    if ((first.get(id) ?? goods) !== goods) changed.add(id);
    first.set(id, goods);
  }
  return [...changed];
}
