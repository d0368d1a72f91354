import { randomUUID } from 'node:crypto';
import { lowestRequestRate } from '../../workflows/policies';
import { presentableStatus } from '../../domain/order';
import type { HistoryOrder, Order } from '../../partner';
import { compareClocks, type DoctorOptions, type Findings } from './findings';
import { checkHistory } from './history-checks';
import { PartnerProbe, type Problem, type Reading } from './partner-probe';

/** Tried where the configured prefix leads nowhere. */
const KNOWN_PREFIXES = ['/v1/partners', '', '/v1', '/partners', '/v1/partner', '/api/v1/partners', '/api/v1'];

/** Tries the partner's interface by reading. @returns what its document leaves open, as it was found. */
export async function checkPartner({ config, now }: DoctorOptions, findings: Findings) {
  if (!config.partner) return undefined;
  const probe = new PartnerProbe(config.partner, now);
  const unknown = `doctor-${randomUUID()}`;
  const listPrefix = await checkLists(probe, findings);
  const history = listPrefix === undefined ? undefined : await checkHistory(probe, findings, listPrefix, unknown);
  const order = history && (await checkOrderPrefix(probe, findings, history.known, unknown));
  checkObservations(probe, findings);
  const { balance, creditLimit } = order?.balance ?? {};
  return { history: history?.facts, account: order && { balance, creditLimit }, observed: probe.seen };
}

/** Tries prefixes until one works, the configured one first; where nothing at all answers under that, it is the only one. */
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

/** Whether the partner answers and accepts the key, and under which prefix its lists are. @returns the prefix that works. */
async function checkLists(probe: PartnerProbe, findings: Findings): Promise<string | undefined> {
  const reachable = findings.check('partner: reachable', 'an answer', 'PARTNER_BASE_URL');
  const key = findings.check('partner: API key', 'a key that the partner accepts', 'PARTNER_API_KEY');
  const prefix = findings.check('partner: list prefix', 'the prefix of /products and /orders', 'PARTNER_LIST_PREFIX');
  const configured = probe.settings.listPrefix;
  const { tried, works, problem } = await tryPrefixes([configured, ...KNOWN_PREFIXES], (listPrefix) =>
    probe.read({ listPrefix }, (partner) => partner.listProducts({ limit: 1 })),
  );
  const got = `${show(configured)}: ${problem?.message}`;
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
  if (problem?.httpStatus === undefined) {
    const remedy = 'Check PARTNER_BASE_URL, the network between here and there, and PARTNER_TIMEOUT.';
    reachable.fault(problem?.message ?? '', remedy);
    return undefined;
  }
  reachable.ok(`${problem.message} (PARTNER_BASE_URL answers)`);
  // Where one prefix asks for a key and others are not there, the key is what is wrong.
  const [asking, ...more] = tried.filter((one) => one.problem?.kind === 'access');
  if (asking) {
    const remedy = 'Set PARTNER_API_KEY, or PARTNER_API_KEY_FILE, to the key that the partner gave you.';
    key.fault(asking.problem?.message ?? '', remedy);
  }
  const known = KNOWN_PREFIXES.map(show).join(', ');
  const ask = `None of these answers either: ${known}. Ask the partner for the path of its lists, and check PARTNER_BASE_URL.`;
  if (!asking) prefix.fault(got, ask);
  else if (asking.prefix !== configured)
    prefix.fault(got, `Set PARTNER_LIST_PREFIX=${asking.prefix}, which asks for the key.`);
  else if (more.length === 0) prefix.ok(`${show(configured)}: it asks for the key`);
  else prefix.warning('every path asks for the key first', 'Run doctor again with the right key.', 'PARTNER_API_KEY');
  return undefined;
}

/** Whether orders are read under the configured prefix. They are placed under the same, which is never tried. */
async function checkOrderPrefix(
  probe: PartnerProbe,
  findings: Findings,
  known: HistoryOrder | undefined,
  unknown: string,
): Promise<Order | undefined> {
  const expected = 'the prefix of /orders/{id}/keys and /place-order';
  const check = findings.check('partner: order prefix', expected, 'PARTNER_ORDER_PREFIX');
  const { orderPrefix: configured, listPrefix } = probe.settings;
  const read = (orderPrefix: string) =>
    probe.read({ orderPrefix }, (partner) => partner.getOrder(known?.id ?? unknown));
  if (!known) {
    // A path that is not there may be answered like an order that is not there. If they differ, the prefix is right.
    const [here, nowhere] = [await read(configured), await read(`/${unknown}`)].map(({ problem }) => problem);
    const got = `the history is empty, and an unknown order is answered: ${here?.message ?? 'as if it were there'}`;
    const remedy =
      'Run doctor again after the first purchase. A wrong prefix buys nothing: place-order is then answered 404.';
    if (here && shapeOf(here) !== shapeOf(nowhere))
      check.ok(`${show(configured)}: ${got}; a path that is not there is answered differently`);
    else check.warning(`${got}, just as a path that is not there`, remedy);
    return undefined;
  }
  const { works, problem } = await tryPrefixes([configured, '', listPrefix, ...KNOWN_PREFIXES], read);
  const got = `${show(configured)}: ${problem?.message}`;
  if (!works?.data) {
    if (problem?.kind === 'access')
      check.fault(got, 'Ask the partner whether this key may read orders.', 'PARTNER_API_KEY');
    else check.fault(got, 'None of the known prefixes does either: ask the partner for the path.');
    return undefined;
  }
  if (works.prefix === configured) check.ok(`${show(configured)}: an order was read`);
  else check.fault(got, `Set PARTNER_ORDER_PREFIX=${works.prefix}, under which orders are read.`);
  findings.settings.PARTNER_ORDER_PREFIX = works.prefix;
  const status = findings.check('partner: status of an order', 'the same in the order history and with its keys');
  const [listed, shown] = [known, works.data].map((order) => presentableStatus(order.status));
  const both = `${listed} in the history, ${shown} with its keys`;
  const remedy = 'Run doctor again. If they always differ, ask the partner, and leave PURCHASE_WATCH at orders.';
  if (listed === shown) status.ok(both);
  else status.warning(both, remedy);
  return works.data;
}

function shapeOf(problem: Problem | undefined): string {
  return `${problem?.kind} ${problem?.httpStatus} ${problem?.traceId !== undefined}`;
}

/** A prefix as people can see it. */
function show(prefix: string): string {
  return prefix === '' ? 'an empty prefix' : prefix;
}

/** What all answers together show. */
function checkObservations({ seen, settings }: PartnerProbe, findings: Findings): void {
  const { timeoutMs, maxRequestsPerSecond: configured } = settings;
  const rate = findings.check('partner: rate limit', 'no 429', 'PARTNER_MAX_RPS');
  // Half of what was too much, but not less than what a worker accepts.
  const slower = Math.max(lowestRequestRate({ partnerTimeoutMs: timeoutMs }), (seen.rateWhenLimited ?? 1) / 2);
  const remedy = `Ask the partner how much is allowed, divide by the workers. Until then PARTNER_MAX_RPS=${slower}.`;
  if (seen.limited === 0) rate.ok(`none in ${seen.requests} requests, one after another`);
  else rate.warning(`${seen.limited} times 429, first after ${seen.rateWhenLimited} requests in a second`, remedy);
  const setting = seen.limited === 0 ? configured : slower;
  if (setting !== undefined && 'PARTNER_LIST_PREFIX' in findings.settings)
    findings.settings.PARTNER_MAX_RPS = String(setting);

  if (seen.clockDifferenceMs !== undefined) compareClocks(findings, 'partner', seen.clockDifferenceMs, timeoutMs);

  const expected = `well within PARTNER_TIMEOUT (${timeoutMs} ms)`;
  const speed = findings.check('partner: time to answer', expected, 'PARTNER_TIMEOUT');
  const slowest = `${Math.round(seen.slowestMs)} ms at the most`;
  if (seen.slowestMs < timeoutMs / 2) speed.ok(slowest);
  else speed.warning(slowest, 'Set PARTNER_TIMEOUT to several times that.');
}
