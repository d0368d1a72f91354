import type { World } from '../../support/world';

/** What the sandbox's books say against what the checkout got. Every list must be empty but `unplaced`. */
export interface Verdict {
  /** References with more than one order. */
  boughtTwice: string[];
  /** References with an order that the purchase does not know: it ended, or waits for a person, without it. */
  lostPurchases: string[];
  /** Keys that were issued and not received, by reference. */
  lostKeys: string[];
  /** Keys that came in more than one event, by reference. */
  keysTwice: string[];
  /** Keys that were received and never issued, by reference. */
  foreignKeys: string[];
  /** Events that came again under their id with other keys. */
  changedEvents: string[];
  /** Purchases without an order that wait for a person. Right, where nobody may place again. */
  unplaced: string[];
}

/** Nothing wrong at all. */
export const FLAWLESS: Verdict = {
  boughtTwice: [],
  lostPurchases: [],
  lostKeys: [],
  keysTwice: [],
  foreignKeys: [],
  changedEvents: [],
  unplaced: [],
};

/** Compares, for each reference, the partner's books with every event that the checkout counts as received. */
export async function judge(world: World, references: readonly string[]): Promise<Verdict> {
  const verdict: Verdict = structuredClone(FLAWLESS);
  for (const referenceId of references) {
    const orders = await world.sandbox.ordersOf(referenceId);
    const { issued, received } = await world.keys(referenceId);
    const { orderId, state } = await world.starter.status(referenceId);
    if (orders.length > 1) verdict.boughtTwice.push(referenceId);
    if (orders.length > 0 && !orders.some(({ id }) => id === orderId)) verdict.lostPurchases.push(referenceId);
    if (orders.length === 0 && state === 'HELD') verdict.unplaced.push(referenceId);
    if (issued.some((key) => !received.includes(key))) verdict.lostKeys.push(referenceId);
    if (new Set(received).size < received.length) verdict.keysTwice.push(referenceId);
    if (received.some((key) => !issued.includes(key))) verdict.foreignKeys.push(referenceId);
  }
  verdict.changedEvents = changedEvents(world, new Set(references));
  return verdict;
}

/** Compares all attempts at an event, whatever they were answered. */
function changedEvents({ receiver }: World, references: Set<string>): string[] {
  const first = new Map<string, string>();
  const changed = new Set<string>();
  for (const { id, body } of receiver.attempts) {
    if (!references.has(body.data.referenceId)) continue;
    const goods = JSON.stringify([body.type, body.data.referenceId, body.data.orderId, body.data.lines]);
    if ((first.get(id) ?? goods) !== goods) changed.add(id);
    first.set(id, goods);
  }
  return [...changed];
}
