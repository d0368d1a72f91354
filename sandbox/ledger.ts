import type { Catalogue, Product } from './catalogue';
import type { Now, OrderClock } from './clock';
import { toDecimal, toMinor } from './currency';
import { keyText, makeKey, type Key } from './keys';
import { finalAtMs, stateAt, type OrderedProduct, type OrderState } from './lifecycle';
import { seededRandom } from './seeded-random';
import type { Settings } from './settings';

/** Where an order came from: the API, the admin route, or the generator of past orders. */
export type Origin = 'api' | 'hand' | 'past';

export interface OrderRequest {
  referenceId: string;
  items: { id: string; quantity: number }[];
}

export interface Order {
  id: string;
  number: number;
  referenceId: string;
  origin: Origin;
  createdAtMs: number;
  committedAtMs: number;
  /** Number of history pages served before this order existed. */
  historyRequestsBefore: number;
  /** The order clock at creation. */
  clockAtCreationMs: number;
  /** Additional age from polls (`agePerPollMs`). */
  agedByPollsMs: number;
  lines: OrderLine[];
  state: OrderState;
  forcedStatus?: string;
  /** Overrides the `total_debit` that the API shows. The ledger keeps the real amount. */
  shownDebit?: number;
  /** Overrides fields of the row in the history, or the whole row. */
  shownRow?: unknown;
}

export interface OrderLine extends OrderedProduct {
  product: Product;
  /** Key values set through the admin route, instead of the generated ones. */
  givenKeys?: string[];
  made: Promise<Key>[];
}

/** The reason that no order was created, with the HTTP status of the response. */
export interface Refusal {
  refused: true;
  status: 402 | 409 | 422;
  code: string;
  message: string;
}

export interface Account {
  openingMinor: number;
  debitedMinor: number;
  refundedMinor: number;
}

interface LedgerOptions {
  seed: string;
  catalogue: Catalogue;
  now: Now;
  clock: OrderClock;
  settings: Settings;
  openingMinor: number;
  historyRequests: () => number;
}

const NOTHING_YET: OrderState = { status: 'PENDING', lines: [], debitedMinor: 0, refundedMinor: 0 };

/** Orders, stock and money. Changes are synchronous, so two orders never take the same unit or the same money. */
export class Ledger {
  /** Oldest first. */
  readonly orders: Order[] = [];
  readonly account: Account;
  readonly #byId = new Map<string, Order>();
  readonly #byReference = new Map<string, Order[]>();
  /** Orders that will still change. */
  readonly #open = new Set<Order>();

  constructor(private readonly options: LedgerOptions) {
    this.account = { openingMinor: options.openingMinor, debitedMinor: 0, refundedMinor: 0 };
  }

  get balanceMinor(): number {
    return this.account.openingMinor - this.account.debitedMinor + this.account.refundedMinor;
  }

  byId(id: string): Order | undefined {
    return this.#byId.get(id);
  }

  byReference(referenceId: string): readonly Order[] {
    return this.#byReference.get(referenceId) ?? [];
  }

  references(): IterableIterator<[string, Order[]]> {
    return this.#byReference.entries();
  }

  /** Checks reference, stock and money, then commits the whole order or nothing. */
  place(request: OrderRequest, origin: Origin = 'api', createdAtMs = this.options.now()): Order | Refusal {
    this.updateAll();
    const lines = this.#linesOf(request);
    if (!Array.isArray(lines)) return lines;

    const refused = this.#duplicate(request) ?? shortOfStock(lines) ?? this.#shortOfMoney(lines);
    if (refused !== undefined) return refused;

    for (const line of lines) line.product.stock -= line.quantity;
    return this.#commit(request.referenceId, lines, origin, createdAtMs);
  }

  /** Adds an order from the past. Stock and balance do not change. */
  addPastOrder(referenceId: string, product: Product, quantity: number, createdAtMs: number): Order {
    const order = this.#commit(referenceId, [lineOf(product, quantity)], 'past', createdAtMs);
    this.account.openingMinor += order.state.debitedMinor - order.state.refundedMinor;
    return order;
  }

  /** Counts a poll, which ages the order by `agePerPollMs`. */
  poll(order: Order): void {
    order.agedByPollsMs += this.options.settings.agePerPollMs;
    this.update(order);
  }

  /** Updates every order, and so the balance, to the current time. */
  updateAll(): void {
    for (const order of this.#open) this.update(order);
  }

  update(order: Order): void {
    const age = this.options.clock.now() - order.clockAtCreationMs + order.agedByPollsMs;
    const before = order.state;
    order.state = stateAt(order.lines, age, order.forcedStatus);
    this.account.debitedMinor += order.state.debitedMinor - before.debitedMinor;
    this.account.refundedMinor += order.state.refundedMinor - before.refundedMinor;
    const isFinal = order.forcedStatus !== undefined || age >= finalAtMs(order.lines);
    if (isFinal) this.#open.delete(order);
    else this.#open.add(order);
  }

  /** The keys of one line that are available at the current status. They are the same each time. */
  async keys(order: Order, lineAt: number): Promise<Key[]> {
    const line = order.lines[lineAt];
    if (line === undefined) return [];
    return Promise.all(
      Array.from({ length: keyCount(order, lineAt) }, async (_, at) => {
        const given = line.givenKeys?.[at];
        if (given !== undefined) return makeKey(given, line.product.image);
        return (line.made[at] ??= makeKey(keyText(this.options.seed, order.number, lineAt, at), line.product.image));
      }),
    );
  }

  #linesOf(request: OrderRequest): OrderLine[] | Refusal {
    const lines: OrderLine[] = [];
    for (const item of request.items) {
      const product = this.options.catalogue.get(item.id);
      if (product === undefined) return refusal(422, 'unknown_product', `unknown product ${item.id}`);
      lines.push(lineOf(product, item.quantity));
    }
    return lines;
  }

  #duplicate(request: OrderRequest): Refusal | undefined {
    if (this.options.settings.duplicates === 'accept' || this.byReference(request.referenceId).length === 0) {
      return undefined;
    }
    return refusal(409, 'duplicate_reference', 'an order with this reference_id already exists');
  }

  #shortOfMoney(lines: OrderLine[]): Refusal | undefined {
    const price = lines.reduce((total, line) => total + line.quantity * line.unitMinor, 0);
    const available = this.balanceMinor + toMinor(this.options.settings.creditLimit);
    if (price <= available) return undefined;
    const [needed, left] = [price, available].map(toDecimal);
    return refusal(402, 'insufficient_balance', `the order costs ${needed}; balance and credit limit leave ${left}`);
  }

  #commit(referenceId: string, lines: OrderLine[], origin: Origin, createdAtMs: number): Order {
    const number = this.#byId.size + 1;
    const now = this.options.now();
    const order: Order = {
      id: `ord-${seededRandom(this.options.seed, 'order', number).string('0123456789abcdef', 20)}`,
      number,
      referenceId,
      origin,
      createdAtMs,
      committedAtMs: now,
      historyRequestsBefore: this.options.historyRequests(),
      clockAtCreationMs: this.options.clock.now() - (now - createdAtMs),
      agedByPollsMs: 0,
      lines,
      state: NOTHING_YET,
    };
    this.#byId.set(order.id, order);
    this.#byReference.set(referenceId, [...this.byReference(referenceId), order]);
    insertByAge(this.orders, order);
    this.update(order);
    return order;
  }
}

/** Number of keys of a line that are available at the current status. */
export function keyCount(order: Order, lineAt: number): number {
  const promised = order.state.lines[lineAt]?.keys ?? 0;
  const given = order.lines[lineAt]?.givenKeys;
  return given !== undefined && order.state.status.endsWith('COMPLETED') ? given.length : promised;
}

export function isRefusal(outcome: Order | Refusal): outcome is Refusal {
  return 'refused' in outcome;
}

function lineOf(product: Product, quantity: number): OrderLine {
  return { product, quantity, unitMinor: product.unitMinor, lifecycle: product.lifecycle, made: [] };
}

/** Adds up the quantities first, because a product may occur in several lines. */
function shortOfStock(lines: OrderLine[]): Refusal | undefined {
  const wanted = new Map<Product, number>();
  for (const { product, quantity } of lines) wanted.set(product, (wanted.get(product) ?? 0) + quantity);
  const short = [...wanted].find(([product, quantity]) => quantity > product.stock)?.[0];
  if (short === undefined) return undefined;
  return refusal(422, 'insufficient_stock', `only ${short.stock} of ${short.id} in stock`);
}

function refusal(status: Refusal['status'], code: string, message: string): Refusal {
  return { refused: true, status, code, message };
}

/** Searches from the end, because most orders are newer than all others. */
function insertByAge(orders: Order[], order: Order): void {
  const before = orders.findLastIndex((other) => other.createdAtMs <= order.createdAtMs);
  orders.splice(before + 1, 0, order);
}
