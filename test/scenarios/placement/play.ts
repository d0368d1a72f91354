import { randomUUID } from 'node:crypto';
import type { DeliveryEventBody } from '../../../src/delivery/index';
import type { Fault, LedgerOrder } from '../../../src/sandbox/index';
import type { PurchaseStatus } from '../../../src/starter/index';
import { startWorld, type World, type WorldOptions } from '../../support/world';

/** A fault without the reference that it is narrowed down to. */
export type Trouble = Omit<Fault, 'referenceId'>;

/** What one purchase came to: what the checkout and people see, and what the partner's books say. */
export interface Played {
  referenceId: string;
  /** The outcome, or `HELD`. */
  state: string;
  status: PurchaseStatus;
  /** Of the partner's books, oldest first. */
  orders: LedgerOrder[];
  /** How many place-order requests with this reference the partner has read. */
  requests: number;
  /** The values of all keys that the checkout got. */
  received: string[];
  events: DeliveryEventBody[];
}

/** Patient, so that a busy machine changes no outcome. */
const PATIENT = { placeWithinMs: 600_000, deadlineMs: 600_000, partnerTimeoutMs: 3_000 };

/**
 * A world with a few orders in its history, without which no order can be shown to be absent. Its order ids are its own:
 * the suites share a Temporal server, where an order that two purchases name is held.
 */
export async function startPartnerWorld(options: WorldOptions = {}, past = 5): Promise<World> {
  const world = await startWorld({
    ...options,
    settings: { ...PATIENT, ...options.settings },
    sandbox: { seed: randomUUID(), ...options.sandbox },
  });
  if (past > 0) world.sandbox.addPastOrders({ count: past });
  return world;
}

export const INSTANT = { 'demo-instant': 2 };

/** Buys under a reference of its own that meets these troubles, and waits until the purchase has ended or is held. */
export async function play(
  world: World,
  troubles: readonly Trouble[] = [],
  items: Record<string, number> = INSTANT,
  referenceId = world.reference(),
): Promise<Played> {
  for (const trouble of troubles) world.sandbox.addFault({ ...trouble, referenceId } as Fault);
  await world.buy(items, referenceId);
  await untilTold(world, referenceId);
  return seen(world, referenceId);
}

/** Waits until the checkout was told something of the purchase: how it ended, or that it is held. */
export async function untilTold(world: World, referenceId: string): Promise<void> {
  await world.receiver.waitFor(() => eventsOf(world, referenceId).length > 0);
  if (eventsOf(world, referenceId)[0]?.type !== 'purchase.held') await world.starter.result(referenceId);
}

/** What there is to see of a purchase right now. */
export async function seen(world: World, referenceId: string): Promise<Played> {
  const status = await world.starter.status(referenceId);
  const events = eventsOf(world, referenceId);
  return {
    referenceId,
    status,
    events,
    state: status.state,
    orders: await world.sandbox.ordersOf(referenceId),
    requests: world.sandbox.placeRequestsOf(referenceId),
    received: events
      .flatMap(({ data }) => data.lines ?? [])
      .flatMap((line) => (line.keys ?? []).map((key) => key.value)),
  };
}

/** The values of the keys that the partner has issued in these orders. */
export function keysOf(orders: readonly LedgerOrder[]): string[] {
  return orders.flatMap((order) => order.items.flatMap((item) => (item.keys ?? []).map((key) => key.value)));
}

/** Waits until something is so that nothing announces. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** How often the history was searched for a reference. */
export function searchesFor(world: World, referenceId: string): number {
  return world.sandbox.log().filter(({ path }) => path.includes(`query=${referenceId}&`)).length;
}

function eventsOf(world: World, referenceId: string): DeliveryEventBody[] {
  return [...world.receiver.events.values()].filter(({ data }) => data.referenceId === referenceId);
}
