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
  /** ISO 8601, not in the future; default: now. It also determines the order's age. */
  createdAt: text.optional(),
});

/** An order that did not come through the API. */
export type ManualOrder = z.input<typeof manualOrder>;

const orderChange = strictObject({
  /** The final status: the order stops changing. Money and keys follow the status. */
  status: text.optional(),
  /** The keys of each line as text, instead of the generated ones. */
  keys: z.array(z.array(text)).optional(),
  /** Overrides `total_debit`; the ledger does not change. */
  shownDebit: money.optional(),
  /** Overrides fields of its row in the history. A value that is not an object replaces the whole row. */
  shownRow: z.unknown().optional(),
});

/** A change to an order. */
export type OrderChange = z.input<typeof orderChange>;

const pastOrders = strictObject({
  count: integer(1, 200_000),
  /** Number of days over which the orders are spread. */
  days: integer(1, 3_650).default(30),
  /** Age of the newest order; default: one hour. */
  endsBeforeMs: integer(0).default(3_600_000),
  /** Each reference is this prefix and a number. */
  referencePrefix: text.default('past-'),
});

/** Past orders to generate. */
export type PastOrders = z.input<typeof pastOrders>;

const DAY_MS = 86_400_000;

/**
 * Commits an order after checking stock and money like the API.
 *
 * @throws BadInput for an invalid or rejected order
 */
export async function placeManualOrder(state: SandboxState, given: unknown): Promise<LedgerOrder> {
  const { referenceId, items, createdAt } = parse(manualOrder, given);
  const createdAtMs = createdAt === undefined ? undefined : pastTime(createdAt, state.now());
  const outcome = state.ledger.place({ referenceId, items }, 'hand', createdAtMs);
  if (isRefusal(outcome)) throw new BadInput(`${outcome.code}: ${outcome.message}`);
  return reportOrder(state.ledger, outcome, { keys: false });
}

/** @throws BadInput for an unknown order or an invalid change */
export async function changeOrder({ ledger }: SandboxState, id: string, given: unknown): Promise<LedgerOrder> {
  const order = ledger.byId(id);
  if (order === undefined) throw new BadInput('order: unknown order');
  const { status, keys, shownDebit, shownRow } = parse(orderChange, given);
  order.forcedStatus = status ?? order.forcedStatus;
  order.shownDebit = shownDebit ?? order.shownDebit;
  if (shownRow !== undefined) order.shownRow = shownRow;
  for (const [at, line] of order.lines.entries()) line.givenKeys = keys?.[at] ?? line.givenKeys;
  return reportOrder(ledger, order, { keys: false });
}

/**
 * Adds past orders, oldest first, most of them for ordinary products.
 *
 * @throws BadInput
 */
export function addPastOrders(state: SandboxState, given: unknown): { added: number } {
  const { count, days, endsBeforeMs, referencePrefix } = parse(pastOrders, given);
  const newestMs = state.now() - endsBeforeMs;
  const ordinary = [...state.catalogue.values()].filter(({ id }) => !(id in SCENARIOS));
  const troublesome = ['demo-refunded', 'demo-failed', 'demo-partial', 'demo-seconds']
    .map((id) => state.catalogue.get(id))
    .filter((product) => product !== undefined);
  for (let number = 1; number <= count; number += 1) {
    const random = seededRandom(state.seed, referencePrefix, number);
    const products = random.fraction() < 0.1 ? troublesome : ordinary;
    const product = products[random.below(products.length)];
    const createdAtMs = Math.floor(newestMs - (days * DAY_MS * (count - number)) / count);
    if (product === undefined) continue;
    state.ledger.addPastOrder(`${referencePrefix}${number}`, product, 1 + random.below(3), createdAtMs);
  }
  return { added: count };
}

function pastTime(iso: string, now: number): number {
  const at = Date.parse(iso);
  if (Number.isNaN(at) || at > now) throw new BadInput('createdAt: needs an ISO 8601 time that is not in the future');
  return at;
}
