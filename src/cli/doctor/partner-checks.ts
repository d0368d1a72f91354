import { randomUUID } from 'node:crypto';
import { minRequestRate } from '../../workflows/policies';
import { safeStatus } from '../../domain/order';
import { pluralize } from '../../domain/text-format';
import type { HistoryOrder, Order, ProductPage } from '../../partner';
import { type Checklist, compareClocks, type DoctorOptions, NOT_TESTED, RUN_AGAIN } from './checklist';
import { checkHistory } from './history-checks';
import { PartnerProbe, type Problem, type Reading } from './partner-probe';

/** Prefixes to try if the configured prefix does not work. */
const KNOWN_PREFIXES = ['/v1/partners', '', '/v1', '/partners', '/v1/partner', '/api/v1/partners', '/api/v1'];

/**
 * Tests the partner's interface by reading.
 *
 * @returns the facts that its document leaves open and its responses show.
 */
export async function checkPartner({ config, now }: DoctorOptions, checklist: Checklist) {
  if (!config.partner) {
    checklist.check('partner: reachable', 'a response').untested(NOT_TESTED, RUN_AGAIN);
    return undefined;
  }
  const probe = new PartnerProbe(config.partner, now);
  const unknown = `doctor-${randomUUID()}`;
  const listPrefix = await checkLists(probe, checklist);
  const history = listPrefix === undefined ? undefined : await checkHistory(probe, checklist, listPrefix, unknown);
  const order = history && (await checkOrderPrefix(probe, checklist, history.known, unknown));
  if (probe.hasResponded) checkObservations(probe, checklist);
  const { balance, creditLimit } = order?.balance ?? {};
  return { history: history?.facts, account: order && { balance, creditLimit }, observed: probe.seen };
}

/** Tries prefixes until one works, first the configured prefix. If no server responds to it, no other is tried. */
async function tryPrefixes<T>(prefixes: readonly string[], read: (prefix: string) => Promise<Reading<T>>) {
  const tried: ({ prefix: string } & Reading<T>)[] = [];
  for (const prefix of new Set(prefixes)) {
    const reading = await read(prefix);
    tried.push({ prefix, ...reading });
    if (reading.data || (tried.length === 1 && reading.problem?.httpStatus === undefined)) break;
  }
  const [first] = tried;
  return { tried, works: tried.find(({ data }) => data), problem: first?.problem };
}

/**
 * Checks that the partner responds and accepts the API key, and finds the prefix of its lists.
 *
 * @returns the prefix that works.
 */
async function checkLists(probe: PartnerProbe, checklist: Checklist): Promise<string | undefined> {
  const reachable = checklist.check('partner: reachable', 'a response', 'PARTNER_BASE_URL');
  const key = checklist.check('partner: API key', 'an API key that the partner accepts', 'PARTNER_API_KEY');
  const prefix = checklist.check('partner: list prefix', 'the prefix of /products and /orders', 'PARTNER_LIST_PREFIX');
  const configured = probe.settings.listPrefix;
  const { tried, works, problem } = await tryPrefixes([configured, ...KNOWN_PREFIXES], (listPrefix) =>
    probe.read({ listPrefix }, (partner) => partner.listProducts({ limit: 1 })),
  );
  const got = `${formatPrefix(configured)}: ${problem?.message}`;
  if (works?.data) {
    reachable.ok('it responds');
    key.ok('accepted');
    if (works.prefix === configured) prefix.ok(formatPrefix(configured));
    else prefix.problem(got, `Set PARTNER_LIST_PREFIX=${works.prefix}, which works.`);
    checkProducts(works.data, checklist);
    checklist.settings.PARTNER_LIST_PREFIX = works.prefix;
    return works.prefix;
  }
  if (problem?.httpStatus === undefined) {
    const remedy = 'Check PARTNER_BASE_URL, the network path, and PARTNER_TIMEOUT.';
    reachable.problem(problem?.message ?? '', remedy);
    return undefined;
  }
  reachable.ok(`${problem.message} (PARTNER_BASE_URL responds)`);
  // If one prefix asks for an API key and others do not exist, the API key is wrong.
  const [asking, ...more] = tried.filter((one) => one.problem?.kind === 'access');
  if (asking) {
    const remedy =
      'Set PARTNER_API_KEY, or the file of PARTNER_API_KEY_FILE, to the API key that the partner gave you.';
    key.problem(asking.problem?.message ?? '', remedy);
  }
  const known = KNOWN_PREFIXES.map(formatPrefix).join(', ');
  const ask = `None of these works either: ${known}. Ask the partner for the path of its lists, and check PARTNER_BASE_URL.`;
  if (!asking) prefix.problem(got, ask);
  else if (asking.prefix !== configured)
    prefix.problem(got, `Set PARTNER_LIST_PREFIX=${asking.prefix}, which asks for the API key.`);
  else if (more.length === 0) prefix.ok(`${formatPrefix(configured)}, which asks for the API key`);
  else
    prefix.warning(
      'every path asks for the API key first',
      'Run doctor again with the right API key.',
      'PARTNER_API_KEY',
    );
  return undefined;
}

function checkProducts({ hits, unreadable: [unreadable] }: ProductPage, checklist: Checklist): void {
  const products = checklist.check('partner: products', 'a catalogue');
  if (unreadable)
    products.warning(
      `a product that can't be read, expected ${unreadable.problems.join(', ')}`,
      'Run `npx fulfilment products`, and ask the partner about the rows that it reports.',
    );
  else if (hits > 0) products.ok(pluralize(hits, 'product'));
  else products.warning('an empty catalogue', 'Ask the partner whether this account may buy products.');
}

/**
 * Checks that orders can be read under the configured prefix. Orders are also placed under it, but doctor places none.
 */
async function checkOrderPrefix(
  probe: PartnerProbe,
  checklist: Checklist,
  known: HistoryOrder | undefined,
  unknown: string,
): Promise<Order | undefined> {
  const expected = 'the prefix of /orders/{id}/keys and /place-order';
  const check = checklist.check('partner: order prefix', expected, 'PARTNER_ORDER_PREFIX');
  const { orderPrefix: configured, listPrefix } = probe.settings;
  const read = (orderPrefix: string) =>
    probe.read({ orderPrefix }, (partner) => partner.getOrder(known?.id ?? unknown));
  if (!known) {
    // The partner may respond to an unknown path as to an unknown order. If the responses differ, the prefix is right.
    const [here, nowhere] = [await read(configured), await read(`/${unknown}`)].map(({ problem }) => problem);
    const got = `the history is empty; the response for an unknown order: ${here?.message ?? 'an order'}`;
    const remedy =
      "Run doctor again after the first purchase. A wrong prefix can't buy anything: the partner returns 404 for place-order.";
    const alike =
      "can't be tested yet: the order history is empty, and the partner responds to unknown orders and unknown paths alike " +
      `(${here?.httpStatus ?? here?.message ?? 'with an order'})`;
    if (here && shapeOf(here) !== shapeOf(nowhere))
      check.ok(`${formatPrefix(configured)}: ${got}; the response for an unknown path differs`);
    else check.untested(alike, remedy);
    return undefined;
  }
  const { works, problem } = await tryPrefixes([configured, '', listPrefix, ...KNOWN_PREFIXES], read);
  const got = `${formatPrefix(configured)}: ${problem?.message}`;
  if (!works?.data) {
    if (problem?.kind === 'access')
      check.problem(got, 'Ask the partner whether this API key may read orders.', 'PARTNER_API_KEY');
    else check.problem(got, 'None of the known prefixes works either. Ask the partner for the path of an order.');
    return undefined;
  }
  if (works.prefix === configured) check.ok(`${formatPrefix(configured)}: an order was read`);
  else check.problem(got, `Set PARTNER_ORDER_PREFIX=${works.prefix}, under which orders can be read.`);
  checklist.settings.PARTNER_ORDER_PREFIX = works.prefix;
  const status = checklist.check(
    'partner: status of an order',
    'the same status in the order history and with its keys',
  );
  const [listed, shown] = [known, works.data].map((order) => safeStatus(order.status));
  const both = `${listed} in the history, ${shown} with its keys`;
  const remedy = 'Run doctor again. If they always differ, ask the partner, and keep PURCHASE_WATCH=orders.';
  if (listed === shown) status.ok(both);
  else status.warning(both, remedy);
  return works.data;
}

function shapeOf(problem: Problem | undefined): string {
  return `${problem?.kind} ${problem?.httpStatus} ${problem?.traceId !== undefined}`;
}

/** A prefix in a visible form. */
function formatPrefix(prefix: string): string {
  return prefix === '' ? 'an empty prefix' : prefix;
}

/** Checks what all responses together show. */
function checkObservations({ seen, settings }: PartnerProbe, checklist: Checklist): void {
  const { timeoutMs, maxRequestsPerSecond: configured } = settings;
  const rate = checklist.check('partner: rate limit', 'no 429', 'PARTNER_MAX_RPS');
  // Half the rate that was too high, but at least the lowest rate that a worker accepts.
  const slower = Math.max(minRequestRate({ partnerTimeoutMs: timeoutMs }), (seen.rateWhenLimited ?? 1) / 2);
  const remedy = `Ask the partner for its limit and divide it by the number of workers. Until then set PARTNER_MAX_RPS=${slower}.`;
  if (seen.limited === 0) rate.ok(`not hit in ${pluralize(seen.requests, 'request')}, one after another`);
  else
    rate.warning(
      `429 ${pluralize(seen.limited, 'time')}, first after ${pluralize(seen.rateWhenLimited ?? 0, 'request')} within a second`,
      remedy,
    );
  const setting = seen.limited === 0 ? configured : slower;
  if (setting !== undefined && 'PARTNER_LIST_PREFIX' in checklist.settings)
    checklist.settings.PARTNER_MAX_RPS = String(setting);

  if (seen.clockDifferenceMs !== undefined) compareClocks(checklist, 'partner', seen.clockDifferenceMs, timeoutMs);

  const expected = `less than half of PARTNER_TIMEOUT (${timeoutMs} ms)`;
  const speed = checklist.check('partner: response time', expected, 'PARTNER_TIMEOUT');
  const slowest = `at most ${Math.round(seen.slowestMs)} ms`;
  if (seen.slowestMs < timeoutMs / 2) speed.ok(slowest);
  else speed.warning(slowest, 'Set PARTNER_TIMEOUT to several times this value.');
}
