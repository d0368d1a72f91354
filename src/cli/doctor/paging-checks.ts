import type { HistoryRow, OrderPage } from '../../partner';
import { loadPartner } from '../lazy';
import { type Check, fault, ok, type Reading, warning } from './check';
import type { PartnerLayout, PartnerProbe } from './partner-probe';

/** Names that other interfaces give these parameters. */
const LIMIT_NAMES = ['limit', 'per_page', 'page_size', 'pageSize', 'perPage', 'size', 'count'];
const PAGE_NAMES = ['page', 'p', 'page_number', 'pageNumber', 'pageNo', 'page_no', 'offset', 'skip'];

const LIMIT = 'order history: page size';
const PAGE = 'order history: page number';
const LIMIT_PARAM = 'PARTNER_HISTORY_LIMIT_PARAM';
const PAGE_PARAM = 'PARTNER_HISTORY_PAGE_PARAM';

type HistoryLayout = Pick<PartnerLayout, 'listPrefix' | 'historyParams'>;

interface ParameterFinding {
  check: Check;
  /** The name that works, where one is known to. */
  name?: string;
}

/** Whether the limit is honoured, and how large a page may be. @param hits the orders on all pages. */
export async function checkLimit(
  probe: PartnerProbe,
  layout: HistoryLayout,
  hits: number,
): Promise<ParameterFinding & { largest?: OrderPage }> {
  const { limit: configured } = layout.historyParams;
  const expected = `${configured}=1 brings one order`;
  if (hits < 2) return { check: tooFew(LIMIT, expected, LIMIT_PARAM) };

  const found = await firstThat([configured, ...otherNames(LIMIT_NAMES, layout)], async (limit) => {
    const one = await readOrders(probe, renamed(layout, { limit }), { limit: 1 });
    return one.data !== undefined && rowsOf(one.data).length === 1;
  });
  const largest = await readOrders(probe, renamed(layout, { limit: found ?? configured }), {
    limit: loadPartner().MAX_PAGE_SIZE,
  });
  const page = largest.data;
  if (found === configured) {
    const check = ok(LIMIT, expected, page ? `honoured, up to ${page.pages.limit}` : `honoured, but not up to 500`);
    return { check, name: configured, largest: page };
  }
  const remedy = found ? `Set ${LIMIT_PARAM}=${found}, which is honoured.` : `Ask the partner what it is called.`;
  const check = fault(LIMIT, expected, 'another number of orders', { variable: LIMIT_PARAM, remedy });
  return { check, name: found, largest: page };
}

/** Whether the page number leads to another page. Comes after the limit: its pages are of one order, where that works. */
export async function checkPage(probe: PartnerProbe, layout: HistoryLayout, hits: number): Promise<ParameterFinding> {
  const { page: configured } = layout.historyParams;
  const expected = `${configured}=2 brings the second page`;
  if (hits < 2) return { check: tooFew(PAGE, expected, PAGE_PARAM) };

  const first = await readOrders(probe, layout, { limit: 1 });
  let movedByRows = false;
  const found = await firstThat([configured, ...otherNames(PAGE_NAMES, layout)], async (page) => {
    const { data } = await readOrders(probe, renamed(layout, { page }), { limit: 1, page: 2 });
    if (!data || data.pages.page !== 2) movedByRows ||= page !== configured && isOtherPage(first, data);
    return data?.pages.page === 2 && isOtherPage(first, data);
  });
  if (found === configured) return { check: ok(PAGE, expected, 'it does'), name: configured };
  const byRows = movedByRows ? ' It seems to count in orders, not in pages, which this software does not speak.' : '';
  const remedy = found
    ? `Set ${PAGE_PARAM}=${found}, which does.`
    : `Ask the partner what the page number is called.${byRows}`;
  const check = fault(PAGE, expected, 'the same page again', { variable: PAGE_PARAM, remedy });
  return { check, name: found };
}

/** The first of the names that passes. */
export async function firstThat(
  names: readonly string[],
  passes: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of names) if (await passes(name)) return name;
  return undefined;
}

/** The names that are neither configured for this nor for another parameter. */
export function otherNames(names: readonly string[], { historyParams }: HistoryLayout): string[] {
  const taken = Object.values(historyParams);
  return names.filter((name) => !taken.includes(name));
}

export function renamed(
  { listPrefix, historyParams }: HistoryLayout,
  names: Partial<HistoryLayout['historyParams']>,
): HistoryLayout {
  return { listPrefix, historyParams: { ...historyParams, ...names } };
}

export function readOrders(
  probe: PartnerProbe,
  layout: HistoryLayout,
  query: { search?: string; page?: number; limit?: number },
): Promise<Reading<OrderPage>> {
  return probe.read(layout, (partner) => partner.listOrders(query));
}

export function rowsOf({ orders, unreadable }: OrderPage): HistoryRow[] {
  return [...orders, ...unreadable];
}

/** A page beyond the last is another one, too. */
function isOtherPage(first: Reading<OrderPage>, data: OrderPage | undefined): boolean {
  const name = (page: OrderPage | undefined) => (page ? JSON.stringify(rowsOf(page)[0]?.id) : undefined);
  return data !== undefined && name(first.data) !== name(data);
}

function tooFew(name: string, expected: string, variable: string): Check {
  const remedy = 'Run doctor again after some purchases.';
  return warning(name, expected, 'too few orders to tell', { variable, remedy });
}
