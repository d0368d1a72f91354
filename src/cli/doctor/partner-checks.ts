import { presentableStatus } from '../../domain/order';
import type { HistoryOrder, Order } from '../../partner';
import type { DoctorOptions, Findings } from './findings';
import { checkHistory } from './history-checks';
import { PartnerProbe, type Problem, type Reading } from './partner-probe';

/** Tried where the configured prefix leads nowhere. */
const KNOWN_PREFIXES = ['/v1/partners', '', '/v1', '/partners', '/v1/partner', '/api/v1/partners', '/api/v1'];

/** What doctor has found out where the partner's document leaves a choice. */
export type PartnerFacts = Awaited<ReturnType<typeof checkPartner>>;

/** Tries the partner's interface by reading. */
export async function checkPartner({ config, now, unique }: DoctorOptions, findings: Findings) {
  if (!config.partner) return undefined;
  const probe = new PartnerProbe(config.partner, now);
  const unknown = `doctor-${unique()}`;
  try {
    const listPrefix = await checkLists(probe, findings);
    const history = listPrefix === undefined ? {} : await checkHistory(probe, findings, listPrefix, unknown);
    const order = history.known && (await checkOrder(probe, findings, history.known));
    if (listPrefix !== undefined && !history.known) await checkUnknownOrder(probe, findings, unknown);
    checkObservations(probe, findings);
    const { balance, creditLimit } = order?.balance ?? {};
    return { history: history.facts, account: order && { balance, creditLimit }, observed: probe.seen };
  } finally {
    await probe.close();
  }
}

/** Tries prefixes until one works, the configured one first; where nothing at all answers under that, it is the only one. */
async function tryPrefixes<T>(
  configured: string,
  others: readonly string[],
  read: (prefix: string) => Promise<Reading<T>>,
) {
  const tried: ({ prefix: string } & Reading<T>)[] = [];
  for (const prefix of new Set([configured, ...others])) {
    const reading = await read(prefix);
    tried.push({ prefix, ...reading });
    if (reading.data || (tried.length === 1 && reading.problem?.httpStatus === undefined)) break;
  }
  const [{ problem = NONE } = {}] = tried;
  return { tried, problem, works: tried.find(({ data }) => data), got: `${show(configured)}: ${problem.message}` };
}

const NONE: Problem = { kind: 'not-found', message: '' };

/** Whether the partner answers and accepts the key, and under which prefix its lists are. @returns the prefix that works. */
async function checkLists(probe: PartnerProbe, findings: Findings): Promise<string | undefined> {
  const reachable = findings.check('partner: reachable', 'an answer', 'PARTNER_BASE_URL');
  const key = findings.check('partner: API key', 'a key that the partner accepts', 'PARTNER_API_KEY');
  const prefix = findings.check('partner: list prefix', 'the prefix of /products and /orders', 'PARTNER_LIST_PREFIX');
  const configured = probe.settings.listPrefix;
  const { tried, problem, works, got } = await tryPrefixes(configured, KNOWN_PREFIXES, (listPrefix) =>
    probe.read({ listPrefix }, (partner) => partner.listProducts({ limit: 1 })),
  );
  if (works?.data) {
    reachable.ok('it answers');
    key.ok('it is accepted');
    if (works.prefix === configured) prefix.ok(show(configured));
    else prefix.fault(got, `Set PARTNER_LIST_PREFIX=${works.prefix}, which answers.`);
    const products = findings.check('partner: products', 'a catalogue');
    if (works.data.hits > 0) products.ok(`${works.data.hits} products`);
    else products.warning('an empty one', 'Ask the partner whether this account may buy anything.');
    findings.settings.PARTNER_LIST_PREFIX = works.prefix;
    return works.prefix;
  }
  if (problem.httpStatus === undefined) {
    const remedy = 'Check PARTNER_BASE_URL, the network between here and there, and PARTNER_TIMEOUT.';
    reachable.fault(problem.message, remedy);
    return undefined;
  }
  reachable.ok(`${problem.message} (PARTNER_BASE_URL answers)`);
  // Where one prefix asks for a key and others are not there, the key is what is wrong.
  const asking = tried.filter((one) => one.problem?.kind === 'access');
  const [asks] = asking;
  if (asks) {
    const remedy = 'Set PARTNER_API_KEY, or PARTNER_API_KEY_FILE, to the key that the partner gave you.';
    key.fault(asks.problem?.message ?? '', remedy);
  }
  if (!asks) {
    const known = KNOWN_PREFIXES.map(show).join(', ');
    const remedy = `None of these answers either: ${known}. Ask the partner for the path of its lists, and check PARTNER_BASE_URL.`;
    prefix.fault(got, remedy);
  } else if (asks.prefix !== configured) {
    prefix.fault(got, `Set PARTNER_LIST_PREFIX=${asks.prefix}, which asks for the key.`);
  } else if (asking.length === 1) {
    prefix.ok(`${show(configured)}: it asks for the key`);
  } else {
    prefix.warning('every path asks for the key first', 'Run doctor again with the right key.', 'PARTNER_API_KEY');
  }
  return undefined;
}

const ORDER_PREFIX = 'the prefix of /orders/{id}/keys and /place-order';

/** Whether orders are read under the configured prefix. They are placed under the same, which is never tried. */
async function checkOrder(probe: PartnerProbe, findings: Findings, known: HistoryOrder): Promise<Order | undefined> {
  const check = findings.check('partner: order prefix', ORDER_PREFIX, 'PARTNER_ORDER_PREFIX');
  const { orderPrefix: configured, listPrefix } = probe.settings;
  const others = ['', listPrefix, ...KNOWN_PREFIXES];
  const { problem, works, got } = await tryPrefixes(configured, others, (orderPrefix) =>
    probe.read({ orderPrefix }, (partner) => partner.getOrder(known.id)),
  );
  if (!works?.data) {
    if (problem.kind === 'access')
      check.fault(got, 'Ask the partner whether this key may read orders.', 'PARTNER_API_KEY');
    else check.fault(got, 'None of the known prefixes does either: ask the partner for the path.');
    return undefined;
  }
  if (works.prefix === configured) check.ok(`${show(configured)}: an order was read`);
  else check.fault(got, `Set PARTNER_ORDER_PREFIX=${works.prefix}, under which orders are read.`);
  findings.settings.PARTNER_ORDER_PREFIX = works.prefix;
  const status = findings.check('partner: status of an order', 'the same in the order history and with its keys');
  const [listed, read] = [known, works.data].map((order) => presentableStatus(order.status));
  const both = `${listed} in the history, ${read} with its keys`;
  const remedy = 'Run doctor again. If they always differ, ask the partner, and leave PURCHASE_WATCH at orders.';
  if (listed === read) status.ok(both);
  else status.warning(both, remedy);
  return works.data;
}

/** A path that is not there may be answered like an order that is not there. If they differ, the prefix is right. */
async function checkUnknownOrder(probe: PartnerProbe, findings: Findings, unknown: string): Promise<void> {
  const check = findings.check('partner: order prefix', ORDER_PREFIX, 'PARTNER_ORDER_PREFIX');
  const configured = probe.settings.orderPrefix;
  const read = (orderPrefix: string) => probe.read({ orderPrefix }, (partner) => partner.getOrder(unknown));
  const shapeOf = (problem?: Problem) =>
    problem && `${problem.kind} ${problem.httpStatus} ${problem.traceId !== undefined}`;
  const { problem } = await read(configured);
  const nowhere = await read(`/${unknown}`);
  const got = `the history is empty, and an unknown order is answered: ${problem?.message ?? 'as if it were there'}`;
  const remedy =
    'Run doctor again after the first purchase. A wrong prefix buys nothing: place-order is then answered 404.';
  if (problem && shapeOf(problem) !== shapeOf(nowhere.problem))
    check.ok(`${show(configured)}: ${got}; a path that is not there is answered differently`);
  else check.warning(`${got}, just as a path that is not there`, remedy);
}

/** A prefix as people can see it. */
function show(prefix: string): string {
  return prefix === '' ? 'an empty prefix' : prefix;
}

/** What all answers together show. */
function checkObservations({ seen, settings }: PartnerProbe, findings: Findings): void {
  const { timeoutMs, maxRequestsPerSecond } = settings;
  const rate = findings.check('partner: rate limit', 'no 429', 'PARTNER_MAX_RPS');
  if (seen.limited === 0) {
    rate.ok(`none in ${seen.requests} requests, one after another`);
    if (maxRequestsPerSecond !== undefined) findings.settings.PARTNER_MAX_RPS = String(maxRequestsPerSecond);
  } else {
    // Half of what was too much.
    const slower = String(Math.max(0.2, (seen.rateWhenLimited ?? 1) / 2));
    const remedy = `Ask the partner how much is allowed, divide by the workers. Until then PARTNER_MAX_RPS=${slower}.`;
    rate.warning(`${seen.limited} times 429, first after ${seen.rateWhenLimited} requests in a second`, remedy);
    findings.settings.PARTNER_MAX_RPS = slower;
  }
  if (seen.clockDifferenceMs !== undefined) findings.compareClocks('partner', seen.clockDifferenceMs, timeoutMs);
  const expected = `well within PARTNER_TIMEOUT (${timeoutMs} ms)`;
  const speed = findings.check('partner: time to answer', expected, 'PARTNER_TIMEOUT');
  const slowest = `${Math.round(seen.slowestMs)} ms at the most`;
  if (seen.slowestMs < timeoutMs / 2) speed.ok(slowest);
  else speed.warning(slowest, 'Set PARTNER_TIMEOUT to several times that.');
}
