import { endsPolling, isSafeOrderId, mayHaveEnded, presentableStatus, REFERENCE_PATTERN } from '../../domain/order';
import { type HistoryOrder, type HistoryRow, MAX_PAGE_SIZE, type OrderPage, type OrderQuery } from '../../partner';
import type { Findings } from './findings';
import type { PartnerLayout, PartnerProbe, Reading } from './partner-probe';

type Params = PartnerLayout['historyParams'];

/** A history with orders in it. */
interface History {
  findings: Findings;
  configured: Params;
  read(params: Partial<Params>, query?: OrderQuery): Promise<Reading<OrderPage>>;
  orders: number;
  /** An order that is there. */
  known: HistoryOrder | undefined;
  /** A reference that nobody has. */
  unknown: string;
}

const VARIABLES: Params = {
  search: 'PARTNER_HISTORY_SEARCH_PARAM',
  page: 'PARTNER_HISTORY_PAGE_PARAM',
  limit: 'PARTNER_HISTORY_LIMIT_PARAM',
};

/** What interfaces usually call these parameters. */
const USUAL_NAMES: Record<keyof Params, readonly string[]> = {
  search: ['query', 'search', 'q', 'reference_id', 'reference', 'referenceId', 'term', 'keyword', 'filter'],
  page: ['page', 'p', 'page_number', 'pageNumber', 'pageNo', 'page_no', 'offset', 'skip'],
  limit: ['limit', 'per_page', 'page_size', 'pageSize', 'perPage', 'size', 'count'],
};

const TOO_FEW = ['too few orders to tell', 'Run doctor again after some purchases.'] as const;

/**
 * Reads the order history, and finds out what its parameters are called.
 *
 * @param unknown a reference that nobody has.
 * @returns what was found out, and an order that is there.
 */
export async function checkHistory(probe: PartnerProbe, findings: Findings, listPrefix: string, unknown: string) {
  const configured = probe.settings.historyParams;
  const read: History['read'] = (params, query) =>
    probe.read({ listPrefix, historyParams: { ...configured, ...params } }, (partner) => partner.listOrders(query));
  const { data: plain, problem } = await read({});
  const check = findings.check('order history', 'a page of the order history', 'PARTNER_LIST_PREFIX');
  if (!plain) {
    const remedy = 'The products are there and the orders are not: ask the partner for the path of the order history.';
    check.fault(problem.message, remedy);
    return {};
  }
  if (plain.hits === 0) {
    const variables = Object.values(VARIABLES).join(', ');
    findings
      .check('order history', 'an order to try search, page and limit with', variables)
      .warning('an empty order history', 'Run doctor again after the first purchase: only then these can be tried.');
    return { facts: { orders: 0, newestEnd: 'unknown', search: 'unknown', statuses: {} } as const };
  }
  check.ok(`${plain.hits} orders`);
  const usable = plain.orders.filter(({ id }) => isSafeOrderId(id));
  const known = usable.find(({ referenceId }) => REFERENCE_PATTERN.test(referenceId ?? '')) ?? usable[0];
  const history = { findings, configured, read, orders: plain.hits, known, unknown };
  const { largest = plain, limit } = await tryLimit(history);
  checkRows(largest, findings);
  await tryPage(history, limit);
  const search = await trySearch(history);
  const facts = { orders: plain.hits, search, largestPage: largest.pages.limit };
  return { facts: { ...facts, newestEnd: newestEnd(largest, findings), statuses: statuses(largest, findings) }, known };
}

/** Whether the limit is honoured, and how large a page may be. @returns the name that works, or the configured one. */
async function tryLimit(history: History): Promise<{ limit: string; largest?: OrderPage | undefined }> {
  const { findings, configured, read } = history;
  const check = findings.check('order history: page size', `${configured.limit}=1 brings one order`, VARIABLES.limit);
  if (history.orders < 2) {
    check.warning(...TOO_FEW);
    return { limit: configured.limit };
  }
  const name = await findName(history, 'limit', async (limit) => {
    const { data } = await read({ limit }, { limit: 1 });
    return data !== undefined && rowsOf(data).length === 1;
  });
  const limit = name ?? configured.limit;
  const { data: largest } = await read({ limit }, { limit: MAX_PAGE_SIZE });
  const asked = 'Ask the partner what it is called.';
  if (name !== configured.limit)
    check.fault('another number of orders', name ? `Set ${VARIABLES.limit}=${name}, which is honoured.` : asked);
  else if (largest) check.ok(`honoured, up to ${largest.pages.limit}`);
  else check.ok(`honoured, but not up to ${MAX_PAGE_SIZE}`);
  return { limit, largest };
}

/** Whether the page number leads to another page. @param limit its name: where it works, the pages are of one order. */
async function tryPage(history: History, limit: string): Promise<void> {
  const { findings, configured, read } = history;
  const check = findings.check(
    'order history: page number',
    `${configured.page}=2 brings the second page`,
    VARIABLES.page,
  );
  if (history.orders < 2) return check.warning(...TOO_FEW);
  const idOfFirst = (data: OrderPage | undefined) => data && String(rowsOf(data)[0]?.id);
  const first = idOfFirst((await read({ limit }, { limit: 1 })).data);
  let countsOrders = '';
  const name = await findName(history, 'page', async (page) => {
    const { data } = await read({ limit, page }, { limit: 1, page: 2 });
    // A page beyond the last is another one, too.
    if (!data || idOfFirst(data) === first) return false;
    if (data.pages.page !== 2 && page !== configured.page)
      countsOrders = ' It seems to count in orders, not in pages, which this software does not speak.';
    return data.pages.page === 2;
  });
  if (name === configured.page) return check.ok('it does');
  const asked = `Ask the partner what the page number is called.${countsOrders}`;
  check.fault('the same page again', name ? `Set ${VARIABLES.page}=${name}, which does.` : asked);
}

/** Whether a search brings the order of a reference, and nothing for a reference that nobody has. */
async function trySearch(history: History): Promise<SearchOutcome['how'] | 'unknown'> {
  const { findings, configured, known, read } = history;
  const expected = `${configured.search}=REFERENCE brings the orders of that reference`;
  const check = findings.check('order history: search', expected, VARIABLES.search);
  if (!known) {
    const remedy = "Run doctor again once the history shows an order with an id and a reference of today's form.";
    check.warning('no order to search for', remedy);
    return 'unknown';
  }
  const outcomes: SearchOutcome[] = [];
  const name = await findName(history, 'search', async (search) => {
    outcomes.push(await searchUnder(history, known, search));
    return outcomes.at(-1)?.how !== 'none';
  });
  const { how = 'none' } = outcomes.at(-1) ?? {};
  if (name === configured.search) {
    check.ok(how === 'exact' ? 'those and no others' : 'those and others: it is fuzzy, which is provided for');
    const byId = findings.check('order history: search by order id', 'that order', VARIABLES.search);
    const { data, problem } = await read({}, { search: known.id });
    const remedy = 'Ask the partner: where only references are found, a reconciliation reads more.';
    if (data && rowsOf(data).some(({ id }) => id === known.id)) byId.ok('that order');
    else byId.warning(problem?.message ?? 'not that order', remedy);
    return how;
  }
  const asked =
    'Ask the partner what it is called. Without it every unknown placement costs a reading of the whole history, and more of ' +
    'them wait for an operator.';
  check.fault(outcomes[0]?.why ?? '', name ? `Set ${VARIABLES.search}=${name}, which searches (${how}).` : asked);
  return how;
}

interface SearchOutcome {
  how: 'exact' | 'fuzzy' | 'none';
  /** Why it does not work. */
  why?: string;
}

async function searchUnder(history: History, known: HistoryOrder, search: string): Promise<SearchOutcome> {
  const find = (term: string) => history.read({ search }, { search: term });
  const nothing = await find(history.unknown);
  if (!nothing.data) return { how: 'none', why: `a reference that nobody has: ${nothing.problem.message}` };
  if (nothing.data.hits >= history.orders) return { how: 'none', why: 'every order: the parameter is ignored' };
  const term = REFERENCE_PATTERN.test(known.referenceId ?? '') ? String(known.referenceId) : known.id;
  const { data, problem } = await find(term);
  if (!data) return { how: 'none', why: problem.message };
  const isSought = ({ referenceId, id }: HistoryRow) => referenceId === term || id === term;
  if (!rowsOf(data).some(isSought)) return { how: 'none', why: 'nothing for the reference of an order that is there' };
  const part = await find(term.slice(0, -1));
  const isFuzzy = !rowsOf(data).every(isSought) || nothing.data.hits > 0 || part.data?.orders.some(isSought);
  return { how: isFuzzy ? 'fuzzy' : 'exact' };
}

/** The name under which a parameter works, the configured one first; none that is configured for another parameter. */
async function findName(
  { findings, configured }: History,
  param: keyof Params,
  works: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  const others = USUAL_NAMES[param].filter((name) => !Object.values(configured).includes(name));
  for (const name of [configured[param], ...others]) {
    if (!(await works(name))) continue;
    findings.settings[VARIABLES[param]] = name;
    return name;
  }
  return undefined;
}

function rowsOf({ orders, unreadable }: OrderPage): HistoryRow[] {
  return [...orders, ...unreadable];
}

function checkRows(page: OrderPage, findings: Findings): void {
  const check = findings.check('order history: rows', 'rows as documented');
  const { length } = page.unreadable;
  if (length === 0) return check.ok(`all ${page.orders.length} that were read`);
  const got = `${length} rows that can't be read; expected ${(page.unreadable[0]?.problems ?? []).join(', ')}`;
  check.warning(got, 'The reconciliation reports them as UNREADABLE; ask the partner what they are.');
}

function newestEnd({ orders }: OrderPage, findings: Findings) {
  const check = findings.check('order history: its newest end', 'orders in the order of their time, either way');
  const times = orders.map(({ createdAt }) => Date.parse(createdAt));
  const rises = times.some((time, index) => time > (times[index - 1] ?? time));
  const falls = times.some((time, index) => time < (times[index - 1] ?? time));
  if (rises && falls)
    check.warning('no order in time', 'It works, but every reading back to an instant reads all pages.');
  else if (rises || falls) check.ok(`the newest comes ${falls ? 'first' : 'last'}`);
  else check.warning(...TOO_FEW);
  if (rises && falls) return 'neither';
  return rises ? 'last' : falls ? 'first' : 'unknown';
}

const MOST_STATUSES = 20;

/** Statuses are the partner's free text: only presentable ones are counted by their names. */
function statuses({ orders }: OrderPage, findings: Findings): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of orders) {
    const shown = presentableStatus(status);
    const name = shown in counts || Object.keys(counts).length < MOST_STATUSES ? shown : 'OTHERS';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const check = findings.check('order history: statuses', 'the documented ones');
  const got = Object.entries(counts)
    .map(([status, count]) => `${status} ${count}`)
    .join(', ');
  const strange = Object.keys(counts).filter((status) => mayHaveEnded(status) && !endsPolling(status));
  if (strange.length === 0) check.ok(got);
  else
    check.warning(got, `Ask the partner what ${strange.join(', ')} means: an order with such a status counts as open.`);
  return counts;
}
