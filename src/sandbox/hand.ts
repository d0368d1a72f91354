import { booked, type BookedOrder } from './books';
import { dice } from './dice';
import { checkedItems } from './faults';
import { BadInput, fieldsOf, integer, list, optional, text } from './input';
import { isRefusal } from './ledger';
import { SCENARIOS } from './scenarios';
import { money } from './settings';
import type { World } from './world';

/** An order that nobody placed through the interface. */
export interface HandOrder {
  referenceId: string;
  items: { id: string; quantity: number }[];
  /** ISO 8601; not after now. The order is as old as that on the order clock too. Default now. */
  createdAt?: string;
}

/** What a person can do to an order. */
export interface OrderChange {
  /** For good: the order no longer changes by itself. Money and keys follow the status. */
  status?: string;
  /** Key texts, line by line, in the place of the order's own. */
  keys?: string[][];
  /** What `total_debit` shows from now on; the books do not change. */
  shownDebit?: number;
}

/** A past to be made up. */
export interface PastOptions {
  /** 1 to 200,000 orders. */
  count: number;
  /** They are spread over so many days, 1 to 3,650; default 30. */
  days?: number;
  /** The newest is so old; default one hour. */
  endsBeforeMs?: number;
  /** Their references are this and a number; default `past-`. */
  referencePrefix?: string;
}

const DAY_MS = 86_400_000;

/**
 * Books an order by hand, under the same checks of stock and money.
 * @throws BadInput for an order that is wrong or refused
 */
export async function placeByHand(world: World, value: unknown): Promise<BookedOrder> {
  const fields = fieldsOf(value, 'order', ['referenceId', 'items', 'createdAt']);
  const request = { referenceId: text(fields['referenceId'], 'referenceId'), items: checkedItems(fields['items']) };
  const createdAtMs = optional(fields['createdAt'], (at) => pastInstant(world, text(at, 'createdAt')));
  const outcome = world.ledger.place(request, 'hand', createdAtMs);
  if (isRefusal(outcome)) throw new BadInput(`${outcome.code}: ${outcome.message}`);
  return booked(world, outcome, false);
}

/** @throws BadInput for an order that does not exist or a change that is wrong */
export async function changeOrder(world: World, id: string, value: unknown): Promise<BookedOrder> {
  const order = world.ledger.byId(id);
  if (order === undefined) throw new BadInput('order: there is no such order');
  const fields = fieldsOf(value, 'change', ['status', 'keys', 'shownDebit']);
  const status = optional(fields['status'], (word) => text(word, 'status'));
  const given = optional(fields['keys'], (lines) => list(lines, 'keys').map(keyTexts));
  const shownDebit = optional(fields['shownDebit'], (amount) => money(amount, 'shownDebit'));

  if (status !== undefined) order.forcedStatus = status;
  if (shownDebit !== undefined) order.shownDebit = shownDebit;
  for (const [at, line] of order.lines.entries()) line.givenKeys = given?.[at] ?? line.givenKeys;
  return booked(world, order, false);
}

/** Orders of earlier days, the oldest first, most of them of ordinary products. @throws BadInput */
export function addPast(world: World, value: unknown): { added: number } {
  const fields = fieldsOf(value, 'history', ['count', 'days', 'endsBeforeMs', 'referencePrefix']);
  const count = integer(fields['count'], 'count', 1, 200_000);
  const spanMs = DAY_MS * integer(fields['days'] ?? 30, 'days', 1, 3_650);
  const newestMs = world.now() - integer(fields['endsBeforeMs'] ?? 3_600_000, 'endsBeforeMs', 0);
  const prefix = text(fields['referencePrefix'] ?? 'past-', 'referencePrefix');

  const ordinary = [...world.catalogue.values()].filter(({ id }) => !(id in SCENARIOS));
  const eventful = ['demo-refunded', 'demo-failed', 'demo-partial', 'demo-seconds']
    .map((id) => world.catalogue.get(id))
    .filter((product) => product !== undefined);
  for (let number = 1; number <= count; number += 1) {
    const chance = dice(world.seed, prefix, number);
    const products = chance.fraction() < 0.1 ? eventful : ordinary;
    const product = products[chance.below(products.length)];
    const createdAtMs = Math.floor(newestMs - (spanMs * (count - number)) / count);
    if (product !== undefined) world.ledger.addPast(`${prefix}${number}`, product, 1 + chance.below(3), createdAtMs);
  }
  return { added: count };
}

function keyTexts(value: unknown): string[] {
  return list(value, 'keys').map((key) => text(key, 'keys'));
}

function pastInstant(world: World, iso: string): number {
  const at = Date.parse(iso);
  if (Number.isNaN(at) || at > world.now()) throw new BadInput('createdAt: needs an ISO 8601 time that is not to come');
  return at;
}
