import { REFERENCE_PATTERN } from '../../domain/order';
import type { HistoryOrder } from '../../partner';
import { type Check, fault, ok, warning } from './check';
import { firstThat, otherNames, readOrders, renamed, rowsOf } from './paging-checks';
import type { PartnerLayout, PartnerProbe } from './partner-probe';

const SEARCH_NAMES = ['query', 'search', 'q', 'reference_id', 'reference', 'referenceId', 'term', 'keyword', 'filter'];

const NAME = 'order history: search';
const PARAM = 'PARTNER_HISTORY_SEARCH_PARAM';

type HistoryLayout = Pick<PartnerLayout, 'listPrefix' | 'historyParams'>;

/** What is known of the history: how many orders it has, one of them, and a reference that none of them has. */
export interface HistorySample {
  hits: number;
  known: HistoryOrder | undefined;
  unknown: string;
}

export interface SearchFinding {
  checks: Check[];
  /** The name that works, where one is known to. */
  name?: string;
  how: 'exact' | 'fuzzy' | 'none' | 'unknown';
}

type Outcome = { how: 'exact' | 'fuzzy' } | { how: 'none'; why: string };

/** Whether a search brings the order of a reference, and nothing for a reference that nobody has. */
export async function checkSearch(
  probe: PartnerProbe,
  layout: HistoryLayout,
  sample: HistorySample,
): Promise<SearchFinding> {
  const { search: configured } = layout.historyParams;
  const expected = `${configured}=REFERENCE brings the orders of that reference`;
  const term = termOf(sample.known);
  if (term === undefined) {
    const remedy = "Run doctor again once the history shows an order with an id and a reference of today's form.";
    const check = warning(NAME, expected, 'no order to search for', { variable: PARAM, remedy });
    return { checks: [check], how: 'unknown' };
  }
  const outcome = await trySearch(probe, layout, sample, term);
  if (outcome.how !== 'none') {
    const checks = [works(outcome.how, expected), ...(await checkSearchById(probe, layout, sample.known?.id))];
    return { checks, name: configured, how: outcome.how };
  }

  let how: SearchFinding['how'] = 'none';
  const other = await firstThat(otherNames(SEARCH_NAMES, layout), async (search) => {
    ({ how } = await trySearch(probe, renamed(layout, { search }), sample, term));
    return how !== 'none';
  });
  const remedy = other
    ? `Set ${PARAM}=${other}, which searches (${how}).`
    : 'Ask the partner what it is called. Without it every unknown placement costs a reading of the whole history, and more of ' +
      'them wait for an operator.';
  const check = fault(NAME, expected, outcome.why, { variable: PARAM, remedy });
  return { checks: [check], name: other, how };
}

function termOf(known: HistoryOrder | undefined): string | undefined {
  const { referenceId = '', id } = known ?? {};
  return REFERENCE_PATTERN.test(referenceId) ? referenceId : id;
}

async function trySearch(
  probe: PartnerProbe,
  layout: HistoryLayout,
  { hits, unknown }: HistorySample,
  term: string,
): Promise<Outcome> {
  const nothing = await readOrders(probe, layout, { search: unknown });
  if (!nothing.data) return { how: 'none', why: `a reference that nobody has: ${nothing.problem.message}` };
  if (nothing.data.hits >= hits) return { how: 'none', why: 'every order: the parameter is ignored' };
  const result = await readOrders(probe, layout, { search: term });
  if (!result.data) return { how: 'none', why: result.problem.message };
  const rows = rowsOf(result.data);
  const isSought = ({ referenceId, id }: { referenceId?: string; id?: string }) => referenceId === term || id === term;
  if (!rows.some(isSought)) return { how: 'none', why: 'nothing for the reference of an order that is there' };
  const alsoParts = await readOrders(probe, layout, { search: term.slice(0, -1) });
  const isFuzzy = !rows.every(isSought) || nothing.data.hits > 0 || (alsoParts.data?.orders.some(isSought) ?? false);
  return { how: isFuzzy ? 'fuzzy' : 'exact' };
}

function works(how: 'exact' | 'fuzzy', expected: string): Check {
  return ok(
    NAME,
    expected,
    how === 'exact' ? 'those and no others' : 'those and others: it is fuzzy, which is provided for',
  );
}

/** The document says that the history can be searched by it, too; the check of an order that an operator names does. */
async function checkSearchById(probe: PartnerProbe, layout: HistoryLayout, id: string | undefined): Promise<Check[]> {
  const name = `${NAME} by order id`;
  const expected = 'that order';
  if (id === undefined) return [];
  const { data, problem } = await readOrders(probe, layout, { search: id });
  if (data && rowsOf(data).some((row) => row.id === id)) return [ok(name, expected, 'that order')];
  const remedy = 'Ask the partner: where only references are found, a reconciliation reads more.';
  return [warning(name, expected, problem?.message ?? 'not that order', { variable: PARAM, remedy })];
}
