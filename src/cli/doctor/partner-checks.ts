import { lowestRequestRate } from '../../workflows/policies';
import { type Check, ok, warning } from './check';
import { clockCheck } from './clock-check';
import { checkHistory, type HistoryFacts } from './history-checks';
import { checkLists } from './list-checks';
import { type AccountFacts, checkOrderPrefix } from './order-checks';
import type { Observations, PartnerProbe } from './partner-probe';

/** What doctor has found out where the partner's document leaves a choice. */
export interface PartnerFacts {
  history?: HistoryFacts;
  account?: AccountFacts;
  observed: Observations;
}

export interface PartnerFindings {
  checks: Check[];
  facts: PartnerFacts;
  /** Variables and the values that were seen to work. */
  settings: Record<string, string>;
}

/** Tries the partner's interface by reading. @param unknown an id and a reference that nobody has. */
export async function checkPartner(probe: PartnerProbe, unknown: string): Promise<PartnerFindings> {
  const { checks, listPrefix } = await checkLists(probe);
  if (listPrefix === undefined) {
    return { checks: [...checks, ...observationChecks(probe)], facts: { observed: probe.seen }, settings: {} };
  }
  const history = await checkHistory(probe, listPrefix, unknown);
  const order = await checkOrderPrefix(probe, history.known, unknown);
  return {
    checks: [...checks, ...history.checks, ...order.checks, ...observationChecks(probe)],
    facts: { history: history.facts, account: order.account, observed: probe.seen },
    settings: known({
      PARTNER_LIST_PREFIX: listPrefix,
      PARTNER_ORDER_PREFIX: order.orderPrefix,
      PARTNER_HISTORY_SEARCH_PARAM: history.names.search,
      PARTNER_HISTORY_PAGE_PARAM: history.names.page,
      PARTNER_HISTORY_LIMIT_PARAM: history.names.limit,
      PARTNER_MAX_RPS: rateSetting(probe),
    }),
  };
}

function known(settings: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** What nobody asked for and all answers together show. */
function observationChecks({ seen, settings }: PartnerProbe): Check[] {
  return [
    rateCheck(seen, settings.timeoutMs),
    ...clockChecks(seen, settings.timeoutMs),
    ...speedChecks(seen, settings.timeoutMs),
  ];
}

function rateCheck({ requests, limited, rateWhenLimited }: Observations, timeoutMs: number): Check {
  const name = 'partner: rate limit';
  const expected = 'no 429';
  if (limited === 0) return ok(name, expected, `none in ${requests} requests, one after another`);
  const got = `${limited} times 429, first after ${rateWhenLimited} requests in a second`;
  const remedy = `Ask the partner how much is allowed, divide by the workers. Until then PARTNER_MAX_RPS=${slowRate(rateWhenLimited, timeoutMs)}.`;
  return warning(name, expected, got, { variable: 'PARTNER_MAX_RPS', remedy });
}

function rateSetting({ seen, settings }: PartnerProbe): string | undefined {
  if (seen.limited > 0) return slowRate(seen.rateWhenLimited, settings.timeoutMs);
  const { maxRequestsPerSecond: configured } = settings;
  return configured === undefined ? undefined : String(configured);
}

/** Half of what was too much, but not less than what the worker takes. */
function slowRate(tooMuch = 1, partnerTimeoutMs: number): string {
  return String(Math.max(lowestRequestRate({ partnerTimeoutMs }), tooMuch / 2));
}

function clockChecks({ clockDifferenceMs }: Observations, timeoutMs: number): Check[] {
  return clockDifferenceMs === undefined ? [] : [clockCheck('partner', clockDifferenceMs, timeoutMs)];
}

function speedChecks({ slowestMs }: Observations, timeoutMs: number): Check[] {
  const name = 'partner: time to answer';
  const expected = `well within PARTNER_TIMEOUT (${timeoutMs} ms)`;
  const got = `${Math.round(slowestMs)} ms at the most`;
  if (slowestMs < timeoutMs / 2) return [ok(name, expected, got)];
  const remedy = 'Set PARTNER_TIMEOUT to several times of that.';
  return [warning(name, expected, got, { variable: 'PARTNER_TIMEOUT', remedy })];
}
