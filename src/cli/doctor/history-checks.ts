import { presentableStatus, REFERENCE_PATTERN, isSafeOrderId } from '../../domain/order';
import type { HistoryOrder, NewestEnd, OrderPage } from '../../partner';
import { loadPartner } from '../lazy';
import { type Check, fault, ok, type Problem, warning } from './check';
import { checkLimit, checkPage, renamed } from './paging-checks';
import type { PartnerLayout, PartnerProbe } from './partner-probe';
import { checkSearch } from './search-checks';

/** What doctor has found out about the order history. */
export interface HistoryFacts {
  orders: number;
  newestEnd: NewestEnd;
  search: 'exact' | 'fuzzy' | 'none' | 'unknown';
  largestPage?: number;
  /** How often each status stood on the page that was read. */
  statuses: Record<string, number>;
}

export interface HistoryFindings {
  checks: Check[];
  facts?: HistoryFacts;
  /** The names that are known to work. */
  names: Partial<PartnerLayout['historyParams']>;
  /** An order that is there. */
  known?: HistoryOrder;
}

const DOCUMENTED = ['PENDING', 'PROCESSING', 'COMPLETED', 'PARTIAL_COMPLETED', 'FAILED', 'REFUNDED'];
const NAME = 'order history';

/** Reads the order history, and finds out what its parameters are called. @param unknown a reference that nobody has. */
export async function checkHistory(probe: PartnerProbe, listPrefix: string, unknown: string): Promise<HistoryFindings> {
  const plain = await probe.read({ listPrefix }, (partner) => partner.listOrders());
  if (!plain.data) return { checks: [unreadable(plain.problem)], names: {} };
  if (plain.data.hits === 0) return { checks: [empty()], facts: EMPTY, names: {} };

  const { hits } = plain.data;
  const known = knownOrder(plain.data);
  const layout = { listPrefix, historyParams: probe.settings.historyParams };
  const limit = await checkLimit(probe, layout, hits);
  const withLimit = limit.name === undefined ? layout : renamed(layout, { limit: limit.name });
  const page = await checkPage(probe, withLimit, hits);
  const search = await checkSearch(probe, layout, { hits, known, unknown });

  const rows = limit.largest ?? plain.data;
  const newestEnd = loadPartner().newestEndOf(rows.orders);
  const statuses = countStatuses(rows.orders);
  const facts = { orders: hits, newestEnd, search: search.how, largestPage: rows.pages.limit, statuses };
  const checks = [
    ...readabilityChecks(rows, hits),
    ...search.checks,
    page.check,
    limit.check,
    newestEndCheck(newestEnd),
    statusCheck(statuses),
  ];
  return { checks, facts, names: { search: search.name, page: page.name, limit: limit.name }, known };
}

const EMPTY: HistoryFacts = { orders: 0, newestEnd: 'unknown', search: 'unknown', statuses: {} };

function unreadable({ message }: Problem): Check {
  const remedy = 'The products are there and the orders are not: ask the partner for the path of the order history.';
  return fault(NAME, 'a page of the order history', message, { variable: 'PARTNER_LIST_PREFIX', remedy });
}

function empty(): Check {
  return warning(NAME, 'an order to try search, page and limit with', 'an empty order history', {
    variable: 'PARTNER_HISTORY_SEARCH_PARAM, PARTNER_HISTORY_PAGE_PARAM, PARTNER_HISTORY_LIMIT_PARAM',
    remedy: 'Run doctor again after the first purchase: only then these can be tried.',
  });
}

function knownOrder({ orders }: OrderPage): HistoryOrder | undefined {
  const usable = orders.filter(({ id }) => isSafeOrderId(id));
  return usable.find(({ referenceId }) => REFERENCE_PATTERN.test(referenceId ?? '')) ?? usable[0];
}

function readabilityChecks({ orders, unreadable: rotten }: OrderPage, hits: number): Check[] {
  const read = ok(NAME, 'a page of the order history', `${hits} orders, ${orders.length + rotten.length} of them read`);
  if (rotten.length === 0) return [read];
  const got = `${rotten.length} rows that can't be read; expected ${(rotten[0]?.problems ?? []).join(', ')}`;
  const remedy = 'The reconciliation reports them as UNREADABLE; ask the partner what they are.';
  return [read, warning(`${NAME}: rows`, 'rows as documented', got, { remedy })];
}

function newestEndCheck(end: HistoryFacts['newestEnd']): Check {
  const name = `${NAME}: its newest end`;
  const expected = 'orders in the order of their time, either way';
  switch (end) {
    case 'first':
      return ok(name, expected, 'the newest comes first');
    case 'last':
      return ok(name, expected, 'the newest comes last');
    case 'neither':
      return warning(name, expected, 'no order in time', {
        remedy: 'It works, but every reading back to an instant reads all pages.',
      });
    case 'unknown':
      return warning(name, expected, 'too few orders to tell', { remedy: 'Run doctor again after some purchases.' });
  }
}

/** Statuses are the partner's free text: only what can be shown is counted by its name. */
function countStatuses(orders: readonly HistoryOrder[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of orders) {
    const shown = presentableStatus(status);
    const name = counts.has(shown) || counts.size < MOST_STATUSES ? shown : 'OTHERS';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

const MOST_STATUSES = 20;

function statusCheck(statuses: Record<string, number>): Check {
  const name = `${NAME}: statuses`;
  const got = Object.entries(statuses).map(([status, count]) => `${status} ${count}`);
  const strange = Object.keys(statuses).filter((status) => !DOCUMENTED.includes(status));
  const expected = 'the documented ones';
  if (strange.length === 0) return ok(name, expected, got.join(', '));
  const remedy = `Ask the partner what ${strange.join(', ')} means: an order with such a status counts as open.`;
  return warning(name, expected, got.join(', '), { remedy });
}
