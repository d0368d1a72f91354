import type { Catalogue, Product } from './catalogue';
import type { Now, OrderClock } from './clock';
import { toDecimal, toMinor } from './currency';
import { keyText, makeKey, type Key } from './keys';
import { finalAtMs, stateAt, type OrderedProduct, type OrderState } from './lifecycle';
import { seededRandom } from './seeded-random';
import type { Settings } from './settings';

/** Who brought an order in: the interface, a person at the admin route, or the generator of a past. */
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
  /** History answers that were given before this order existed. */
  historyRequestsBefore: number;
  /** Reading of the order clock when the order was created. */
  clockAtCreationMs: number;
  /** How much older its polls have made it. */
  agedByPollsMs: number;
  lines: OrderLine[];
  state: OrderState;
  forcedStatus?: string;
  /** What the interface shows as debited, where a person made it differ from the ledger. */
  shownDebit?: number;
  /** What the history shows in the place of its row, or of fields of it. */
  shownRow?: unknown;
}

export interface OrderLine extends OrderedProduct {
  product: Product;
  /** Key values that a person put in the place of the line's own. */
  givenKeys?: string[];
  made: Promise<Key>[];
}

/** Why no order was made, with the status that the interface answers with. */
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

/** Orders, stock and money. Every method runs to its end without waiting, so no two orders can take the same thing. */
export class Ledger {
  /** Oldest first. */
  readonly orders: Order[] = [];
  readonly account: Account;
  readonly #byId = new Map<string, Order>();
  readonly #byReference = new Map<string, Order[]>();
  /** Orders to which something will still happen. */
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

  /** Checks reference, stock and money and commits, all or nothing. */
  place(request: OrderRequest, origin: Origin = 'api', createdAtMs = this.options.now()): Order | Refusal {
    this.updateAll();
    const lines = this.#linesOf(request);
    if (!Array.isArray(lines)) return lines;

    const refusal = this.#duplicate(request) ?? shortOfStock(lines) ?? this.#shortOfMoney(lines);
    if (refusal !== undefined) return refusal;

    for (const line of lines) line.product.stock -= line.quantity;
    return this.#commit(request.referenceId, lines, origin, createdAtMs);
  }

  /** An order of earlier days, paid with money of earlier days: neither today's stock nor today's balance change. */
  addPastOrder(referenceId: string, product: Product, quantity: number, createdAtMs: number): Order {
    const order = this.#commit(referenceId, [lineOf(product, quantity)], 'past', createdAtMs);
    this.account.openingMinor += order.state.debitedMinor - order.state.refundedMinor;
    return order;
  }

  /** Each poll makes the order older, by a setting. */
  poll(order: Order): void {
    order.agedByPollsMs += this.options.settings.perLookMs;
    this.update(order);
  }

  /** Brings every order, and with them the balance, to where the clock says. */
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

  /** The keys of one line that the order's status lets out. The same line gives the same keys each time. */
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
      if (product === undefined) return refusal(422, 'unknown_product', `there is no product ${item.id}`);
      lines.push(lineOf(product, item.quantity));
    }
    return lines;
  }

  #duplicate(request: OrderRequest): Refusal | undefined {
    if (this.options.settings.duplicates === 'accept' || this.byReference(request.referenceId).length === 0) {
      return undefined;
    }
    return refusal(409, 'duplicate_reference', 'an order with this reference_id exists');
  }

  #shortOfMoney(lines: OrderLine[]): Refusal | undefined {
    const price = lines.reduce((total, line) => total + line.quantity * line.unitMinor, 0);
    const available = this.balanceMinor + toMinor(this.options.settings.creditLimit);
    if (price <= available) return undefined;
    const [needed, left] = [price, available].map(toDecimal);
    return refusal(402, 'insufficient_balance', `the order costs ${needed}, balance and credit limit leave ${left}`);
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

/** How many keys of a line the order's status lets out. */
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

/** A product may stand in several lines, which together take from the same stock. */
function shortOfStock(lines: OrderLine[]): Refusal | undefined {
  const wanted = new Map<Product, number>();
  for (const { product, quantity } of lines) wanted.set(product, (wanted.get(product) ?? 0) + quantity);
  const short = [...wanted].find(([product, quantity]) => quantity > product.stock)?.[0];
  if (short === undefined) return undefined;
  return refusal(422, 'insufficient_stock', `${short.stock} of ${short.id} are in stock`);
}

function refusal(status: Refusal['status'], code: string, message: string): Refusal {
  return { refused: true, status, code, message };
}

/** Most orders are the newest so far. */
function insertByAge(orders: Order[], order: Order): void {
  const before = orders.findLastIndex((other) => other.createdAtMs <= order.createdAtMs);
  orders.splice(before + 1, 0, order);
}
