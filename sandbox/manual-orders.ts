import { z } from 'zod';
import { BadInput, integer, money, orderItems, parse, strictObject, text } from './input';
import { type LedgerOrder, reportOrder } from './ledger-report';
import { isRefusal } from './ledger';
import { SCENARIOS } from './scenarios';
import { seededRandom } from './seeded-random';
import type { SandboxState } from './state';

const manualOrder = strictObject({
  referenceId: text,
  items: orderItems,
  /** ISO 8601; not after now. The order is as old as that on the order clock too. Default now. */
  createdAt: text.optional(),
});

/** An order that nobody placed through the interface. */
export type ManualOrder = z.input<typeof manualOrder>;

const orderChange = strictObject({
  /** For good: the order no longer changes by itself. Money and keys follow the status. */
  status: text.optional(),
  /** Key texts, line by line, in the place of the order's own. */
  keys: z.array(z.array(text)).optional(),
  /** What `total_debit` shows from now on; the ledger does not change. */
  shownDebit: money.optional(),
  /** What its row in the history shows from now on: other fields, or something else than an object in its place. */
  shownRow: z.unknown().optional(),
});

/** What a person can do to an order. */
export type OrderChange = z.input<typeof orderChange>;

const pastOrders = strictObject({
  count: integer(1, 200_000),
  /** They are spread over so many days. */
  days: integer(1, 3_650).default(30),
  /** The newest is so old; default one hour. */
  endsBeforeMs: integer(0).default(3_600_000),
  /** Their references are this and a number. */
  referencePrefix: text.default('past-'),
});

/** Orders of earlier days that are to be made up. */
export type PastOrders = z.input<typeof pastOrders>;

const DAY_MS = 86_400_000;

/**
 * Commits an order under the same checks of stock and money as one that came through the interface.
 * @throws BadInput for an order that is wrong or refused
 */
export async function placeManualOrder(state: SandboxState, given: unknown): Promise<LedgerOrder> {
  const { referenceId, items, createdAt } = parse(manualOrder, given);
  const createdAtMs = createdAt === undefined ? undefined : pastInstant(createdAt, state.now());
  const outcome = state.ledger.place({ referenceId, items }, 'hand', createdAtMs);
  if (isRefusal(outcome)) throw new BadInput(`${outcome.code}: ${outcome.message}`);
  return reportOrder(state.ledger, outcome, { keys: false });
}

/** @throws BadInput for an order that does not exist or a change that is wrong */
export async function changeOrder({ ledger }: SandboxState, id: string, given: unknown): Promise<LedgerOrder> {
  const order = ledger.byId(id);
  if (order === undefined) throw new BadInput('order: there is no such order');
  const { status, keys, shownDebit, shownRow } = parse(orderChange, given);
  order.forcedStatus = status ?? order.forcedStatus;
  order.shownDebit = shownDebit ?? order.shownDebit;
  if (shownRow !== undefined) order.shownRow = shownRow;
  for (const [at, line] of order.lines.entries()) line.givenKeys = keys?.[at] ?? line.givenKeys;
  return reportOrder(ledger, order, { keys: false });
}

/** Orders of earlier days, the oldest first, most of them of ordinary products. @throws BadInput */
export function addPastOrders(state: SandboxState, given: unknown): { added: number } {
  const { count, days, endsBeforeMs, referencePrefix } = parse(pastOrders, given);
  const newestMs = state.now() - endsBeforeMs;
  const ordinary = [...state.catalogue.values()].filter(({ id }) => !(id in SCENARIOS));
  const eventful = ['demo-refunded', 'demo-failed', 'demo-partial', 'demo-seconds']
    .map((id) => state.catalogue.get(id))
    .filter((product) => product !== undefined);
  for (let number = 1; number <= count; number += 1) {
    const random = seededRandom(state.seed, referencePrefix, number);
    const products = random.fraction() < 0.1 ? eventful : ordinary;
    const product = products[random.below(products.length)];
    const createdAtMs = Math.floor(newestMs - (days * DAY_MS * (count - number)) / count);
    if (product === undefined) continue;
    state.ledger.addPastOrder(`${referencePrefix}${number}`, product, 1 + random.below(3), createdAtMs);
  }
  return { added: count };
}

function pastInstant(iso: string, now: number): number {
  const at = Date.parse(iso);
  if (Number.isNaN(at) || at > now) throw new BadInput('createdAt: needs an ISO 8601 time that is not to come');
  return at;
}
