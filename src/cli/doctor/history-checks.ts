import { pluralize } from '../../domain/text-format';
import { canStopPolling, isSafeOrderId, mayHaveEnded, safeStatus, REFERENCE_PATTERN } from '../../domain/order';
import {
  countIds,
  type HistoryOrder,
  type HistoryRow,
  MAX_PAGE_SIZE,
  type NewestEnd,
  newestEndOf,
  type OrderPage,
  type OrderQuery,
} from '../../partner';
import type { Checklist, OpenCheck } from './checklist';
import type { PartnerLayout, PartnerProbe, Reading } from './partner-probe';

type Params = PartnerLayout['historyParams'];

/** A history that contains orders. */
interface History {
  checklist: Checklist;
  configured: Params;
  read(params: Partial<Params>, query?: OrderQuery): Promise<Reading<OrderPage>>;
  orders: number;
}

const VARIABLES: Params = {
  search: 'PARTNER_HISTORY_SEARCH_PARAM',
  page: 'PARTNER_HISTORY_PAGE_PARAM',
  limit: 'PARTNER_HISTORY_LIMIT_PARAM',
};

/** The usual names of these parameters. */
const USUAL_NAMES: Record<keyof Params, readonly string[]> = {
  search: ['query', 'search', 'q', 'reference_id', 'reference', 'referenceId', 'term', 'keyword', 'filter'],
  page: ['page', 'p', 'page_number', 'pageNumber', 'pageNo', 'page_no', 'offset', 'skip'],
  limit: ['limit', 'per_page', 'page_size', 'pageSize', 'perPage', 'size', 'count'],
};

const TOO_FEW = ['too few orders to tell', 'Run doctor again after some purchases.'] as const;

/**
 * Reads the order history and finds the names of its parameters.
 *
 * @param unknown a reference that no order has.
 * @returns the facts, and an order from the history.
 */
export async function checkHistory(probe: PartnerProbe, checklist: Checklist, listPrefix: string, unknown: string) {
  const configured = probe.settings.historyParams;
  const read: History['read'] = (params, query) =>
    probe.read({ listPrefix, historyParams: { ...configured, ...params } }, (partner) => partner.listOrders(query));
  const check = checklist.check('order history: first page', 'a page of orders', 'PARTNER_LIST_PREFIX');
  const { data: plain, problem } = await read({});
  if (!plain) {
    const { message, httpStatus } = problem;
    if (httpStatus === undefined)
      check.problem(
        message,
        'The product list responds. If the history is only slow, raise PARTNER_TIMEOUT.',
        'PARTNER_TIMEOUT',
      );
    else
      check.problem(
        message,
        'The product list works under this prefix. Ask the partner for the path of the order history.',
      );
    return {};
  }
  const { hits: orders } = plain;
  if (orders === 0) {
    const expected = 'an order to test the search, page and limit parameters with';
    const remedy = 'Run doctor again after the first purchase.';
    const variables = Object.values(VARIABLES).join(', ');
    checklist.check('order history: parameters', expected, variables).warning('an empty order history', remedy);
    return { facts: { orders, newestEnd: 'unknown', search: 'unknown', statuses: {} } };
  }
  check.ok(pluralize(orders, 'order'));
  const usable = plain.orders.filter(({ id }) => isSafeOrderId(id));
  const known = usable.find(({ referenceId }) => REFERENCE_PATTERN.test(referenceId ?? '')) ?? usable[0];
  const history: History = { checklist, configured, read, orders };
  const limit = await tryLimit(history);
  await tryPage(history, limit);
  const search = await trySearch(history, known, unknown);

  const { data: largest = plain } = await read({ limit }, { limit: MAX_PAGE_SIZE });
  checkRows(largest, checklist);
  const facts = { newestEnd: newestEnd(largest, checklist), statuses: statuses(largest, checklist) };
  return { facts: { orders, search, largestPage: largest.pages.limit, ...facts }, known };
}

/** What a name that works returns, or the reason why a name does not work. */
interface Outcome {
  works?: string;
  reason?: string;
}

/**
 * Tries the configured name of a parameter, then the usual names that are not configured for another parameter.
 *
 * @param otherwise what to add to the advice if no name works.
 * @returns the name that works, and what it returns.
 */
async function tryNames(
  { checklist, configured }: History,
  param: keyof Params,
  check: OpenCheck,
  tryName: (name: string) => Promise<Outcome>,
  otherwise = () => '',
): Promise<{ name?: string; works?: string }> {
  const variable = VARIABLES[param];
  const others = USUAL_NAMES[param].filter((name) => !Object.values(configured).includes(name));
  let reason = '';
  for (const name of [configured[param], ...others]) {
    const { works, reason: problem = '' } = await tryName(name);
    reason ||= problem;
    if (works === undefined) continue;
    if (name === configured[param]) check.ok(works);
    else check.problem(reason, `Set ${variable}=${name}, which works: ${works}.`);
    checklist.settings[variable] = name;
    return { name, works };
  }
  check.problem(reason, `Ask the partner for the name of this parameter.${otherwise()}`);
  return {};
}

/**
 * Checks the page size.
 *
 * @returns the name of its parameter: the configured name, unless only another name works.
 */
async function tryLimit(history: History): Promise<string> {
  const { checklist, configured, orders, read } = history;
  const check = checklist.check('order history: page size', `${configured.limit}=1 returns one order`, VARIABLES.limit);
  if (orders < 2) {
    check.warning(...TOO_FEW);
    return configured.limit;
  }
  const { name = configured.limit } = await tryNames(history, 'limit', check, async (limit) => {
    const { data } = await read({ limit }, { limit: 1 });
    return data && countIds(rowsOf(data)) === 1 ? { works: '1 order' } : { reason: 'a different number of orders' };
  });
  return name;
}

/**
 * Checks the page number.
 *
 * @param limit the name of the parameter for the page size. If it works, each page has one order.
 */
async function tryPage(history: History, limit: string): Promise<void> {
  const { checklist, configured, orders, read } = history;
  const check = checklist.check(
    'order history: page number',
    `${configured.page}=2 returns the second page`,
    VARIABLES.page,
  );
  if (orders < 2) return check.warning(...TOO_FEW);
  // An order may have a row for each item.
  const firstOf = (page: OrderPage) => {
    const [row] = rowsOf(page);
    return row?.id === undefined ? undefined : JSON.stringify([row.id, 'item' in row && row.item]);
  };
  const { data: firstPage } = await read({ limit }, { limit: 1 });
  const first = firstPage && firstOf(firstPage);
  let hint = '';
  const tryPageName = async (page: string): Promise<Outcome> => {
    const { data } = await read({ limit, page }, { limit: 1, page: 2 });
    // A page after the last page also differs. A row without a readable id may be any order.
    const shown = data && firstOf(data);
    const isOther = data && (shown === undefined || shown !== first);
    if (isOther && data.pages.page === 2) return { works: 'the second page' };
    if (isOther && page !== configured.page)
      hint = ' It seems to count orders instead of pages, which this software does not support.';
    return { reason: 'the same page again' };
  };
  await tryNames(history, 'page', check, tryPageName, () => hint);
}

/** Checks that a search returns the orders of a reference, and none for an unknown reference. */
async function trySearch(history: History, known: HistoryOrder | undefined, unknown: string) {
  const { checklist, configured, read } = history;
  const expected = `${configured.search}=REFERENCE returns the orders of that reference`;
  const check = checklist.check('order history: search', expected, VARIABLES.search);
  if (!known) {
    check.warning('no order to search for', 'Run doctor again once the history shows an order with a reference.');
    return 'unknown';
  }
  const otherwise = () =>
    ' Without it, each placement with an unknown outcome reads the history back to the start of its purchase, and more purchases are held for an operator.';
  const trySearchName = (search: string) => searchUnder(history, search, known, unknown);
  const { name, works } = await tryNames(history, 'search', check, trySearchName, otherwise);
  if (name === configured.search) {
    const byId = checklist.check('order history: search by order id', 'the order with this id', VARIABLES.search);
    const { data, problem } = await read({}, { search: known.id });
    if (data && rowsOf(data).some(({ id }) => id === known.id)) byId.ok('it finds the order');
    else
      byId.warning(
        problem?.message ?? 'other orders',
        'Ask the partner about it. Without it, a reconciliation reads more.',
      );
  }
  return works === undefined ? 'none' : works === EXACT ? 'exact' : 'fuzzy';
}

const EXACT = 'only those orders';
const FUZZY = 'those and other orders: the search is fuzzy, which is supported';

async function searchUnder(
  { orders, read }: History,
  search: string,
  known: HistoryOrder,
  unknown: string,
): Promise<Outcome> {
  const find = (text: string) => read({ search }, { search: text });
  const term = REFERENCE_PATTERN.test(known.referenceId ?? '') ? String(known.referenceId) : known.id;
  const isSought = ({ referenceId, id }: HistoryRow) => referenceId === term || id === term;
  const nothing = await find(unknown);
  if (!nothing.data) return { reason: `for an unknown reference: ${nothing.problem.message}` };
  if (nothing.data.hits >= orders) return { reason: 'every order, so the parameter is ignored' };
  const { data, problem } = await find(term);
  if (!data) return { reason: problem.message };
  if (!rowsOf(data).some(isSought)) return { reason: 'nothing for the reference of an existing order' };
  const part = await find(term.slice(0, -1));
  const isFuzzy = !rowsOf(data).every(isSought) || nothing.data.hits > 0 || part.data?.orders.some(isSought);
  return { works: isFuzzy ? FUZZY : EXACT };
}

function rowsOf({ orders, unreadable }: OrderPage): HistoryRow[] {
  return [...orders, ...unreadable];
}

function checkRows({ orders, unreadable, pages }: OrderPage, checklist: Checklist): void {
  const check = checklist.check('order history: rows', 'documented rows');
  if (unreadable.length === 0) return check.ok(`all ${orders.length} can be read; a page has up to ${pages.limit}`);
  const rows = pluralize(unreadable.length, 'unreadable row');
  const got = `${rows}; expected ${(unreadable[0]?.problems ?? []).join(', ')}`;
  check.warning(got, 'The reconciliation reports them as UNREADABLE. Ask the partner what they are.');
}

function newestEnd({ orders }: OrderPage, checklist: Checklist): NewestEnd {
  const check = checklist.check('order history: sort order', 'orders sorted by time, either way');
  const end = newestEndOf(orders);
  const remedy =
    'It works, but every search back to a point in time reads all pages. With over 200 pages, each placement with an unknown outcome is held for an operator.';
  if (end === 'neither') check.warning('orders not sorted by time', remedy);
  else if (end === 'unknown') check.warning(...TOO_FEW);
  else check.ok(`the newest order is ${end}`);
  return end;
}

/** A status is free text from the partner. At most 20 of those that are safe to show are counted by name. */
function statuses({ orders }: OrderPage, checklist: Checklist): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of orders) {
    const shown = safeStatus(status);
    const name = shown in counts || Object.keys(counts).length < 20 ? shown : 'OTHERS';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const check = checklist.check('order history: statuses', 'documented statuses');
  const got = Object.entries(counts)
    .map(([status, count]) => `${status} ${count}`)
    .join(', ');
  const strange = Object.keys(counts)
    .filter((status) => mayHaveEnded(status) && !canStopPolling(status))
    .join(', ');
  if (strange === '') check.ok(got);
  else check.warning(got, `Ask the partner what ${strange} means. An order with such a status counts as open.`);
  return counts;
}
