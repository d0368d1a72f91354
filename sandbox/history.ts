import type { Now } from './clock';
import { toDecimal } from './currency';
import type { Ledger, Order } from './ledger';
import { pageOf } from './paging';
import type { Settings } from './settings';

/** The order history, with the weaknesses that the settings select. */
export class History {
  /** Number of pages served so far. */
  requests = 0;
  #waiting: { until: number; act: () => void }[] = [];

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: Settings,
    private readonly now: Now,
  ) {}

  /** Runs `act` after `count` more pages. */
  afterRequests(count: number, act: () => void): void {
    this.#waiting.push({ until: this.requests + count, act });
  }

  /** @throws BadInput for an invalid page or limit */
  list(query: URLSearchParams) {
    const { searchParam, pageParam, limitParam, historyOrder, historyPageLimit } = this.settings;
    this.ledger.updateAll();
    const found = this.#found(query.get(searchParam) ?? '').filter((order) => this.#isVisible(order));
    const sorted = historyOrder === 'newest' ? found.reverse() : found;
    const page = pageOf(sorted, query, { page: pageParam, limit: limitParam }, historyPageLimit);
    this.#count();
    return { ...page, elements: page.elements.flatMap((order) => this.#show(order)) };
  }

  /** Oldest first. */
  #found(search: string): readonly Order[] {
    const { orders } = this.ledger;
    if (search === '' || this.settings.search === 'ignored') return orders;
    if (this.settings.search === 'fuzzy') {
      return orders.filter((order) => order.id.includes(search) || order.referenceId.includes(search));
    }
    const byId = this.ledger.byId(search);
    const found = new Set([...this.ledger.byReference(search), ...(byId ? [byId] : [])]);
    return [...found].sort((one, other) => one.createdAtMs - other.createdAtMs);
  }

  #isVisible(order: Order): boolean {
    const { historyLagMs, historyLagRequests } = this.settings;
    return (
      order.origin === 'past' ||
      (this.now() - order.committedAtMs >= historyLagMs &&
        this.requests - order.historyRequestsBefore >= historyLagRequests)
    );
  }

  #count(): void {
    this.requests += 1;
    const due = this.#waiting.filter(({ until }) => until <= this.requests);
    this.#waiting = this.#waiting.filter(({ until }) => until > this.requests);
    for (const { act } of due) act();
  }

  /** The row as the API shows it, with the changes of `shownRow`; if that is an array, a row for each element. */
  #show(order: Order): unknown[] {
    const { shownRow } = order;
    return (Array.isArray(shownRow) ? shownRow : [shownRow]).map((row: unknown) => this.#row(order, row));
  }

  #row(order: Order, shownRow: unknown): unknown {
    if (shownRow !== undefined && (typeof shownRow !== 'object' || shownRow === null)) return shownRow;
    return {
      id: order.id,
      reference_id: order.referenceId,
      status: order.state.status,
      item: shownItem(order, this.settings.historyItem),
      created_at: new Date(order.createdAtMs).toISOString(),
      ...shownRow,
    };
  }
}

function shownItem(order: Order, how: Settings['historyItem']) {
  const lines = how === 'whole' ? order.lines : order.lines.slice(0, 1);
  const minor = how === 'whole' ? order.state.debitedMinor : (order.state.lines[0]?.debitedMinor ?? 0);
  return {
    id: order.lines[0]?.product.id ?? '',
    title: order.lines[0]?.product.title ?? '',
    quantity: lines.reduce((total, line) => total + line.quantity, 0),
    amount: toDecimal(minor),
  };
}
