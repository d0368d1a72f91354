import { presentableStatus } from '../../domain/order';
import type { HistoryOrder, Order } from '../../partner';
import { type Check, fault, ok, type Problem, type Reading, warning } from './check';
import { KNOWN_PREFIXES, show } from './list-checks';
import type { PartnerProbe } from './partner-probe';

const NAME = 'partner: order prefix';
const VARIABLE = 'PARTNER_ORDER_PREFIX';

/** What the account shows of itself beside an order: numbers in the partner's own unit. */
export interface AccountFacts {
  balance?: number;
  creditLimit?: number;
}

export interface OrderFindings {
  checks: Check[];
  /** The prefix that works, where one is known to. */
  orderPrefix?: string;
  account?: AccountFacts;
}

/**
 * Whether orders are read under the configured prefix: by an order that the history shows, or, where it shows none, by how an
 * unknown one is answered. Orders are placed under the same prefix, which is never tried.
 */
export async function checkOrderPrefix(
  probe: PartnerProbe,
  known: HistoryOrder | undefined,
  unknown: string,
): Promise<OrderFindings> {
  const configured = probe.settings.orderPrefix;
  if (!known) return { checks: [await checkUnknownOrder(probe, unknown)] };
  const { data, problem } = await readOrder(probe, configured, known.id);
  if (data) return readable(data, known, configured, ok(NAME, EXPECTED, `${show(configured)}: an order was read`));
  if (problem.httpStatus === undefined) return refusedEverywhere(configured, problem);

  for (const prefix of otherPrefixes(probe)) {
    const other = await readOrder(probe, prefix, known.id);
    if (!other.data) continue;
    const remedy = `Set PARTNER_ORDER_PREFIX=${prefix}, under which orders are read.`;
    const wrong = fault(NAME, EXPECTED, `${show(configured)}: ${problem.message}`, { variable: VARIABLE, remedy });
    return readable(other.data, known, prefix, wrong);
  }
  return refusedEverywhere(configured, problem);
}

const EXPECTED = 'the prefix of /orders/{id}/keys and /place-order';

function readOrder(probe: PartnerProbe, orderPrefix: string, id: string): Promise<Reading<Order>> {
  return probe.read({ orderPrefix }, (partner) => partner.getOrder(id));
}

function otherPrefixes({ settings: { orderPrefix, listPrefix } }: PartnerProbe): string[] {
  return [...new Set(['', listPrefix, ...KNOWN_PREFIXES])].filter((prefix) => prefix !== orderPrefix);
}

function readable(order: Order, known: HistoryOrder, orderPrefix: string, prefix: Check): OrderFindings {
  const { balance, status } = order;
  const [listed, read] = [presentableStatus(known.status), presentableStatus(status)];
  const name = 'partner: status of an order';
  const expected = 'the same in the order history and with its keys';
  const both = `${listed} in the history, ${read} with its keys`;
  const remedy = 'Run doctor again. If they always differ, ask the partner, and leave PURCHASE_WATCH at orders.';
  const statuses = listed === read ? ok(name, expected, both) : warning(name, expected, both, { remedy });
  const account = { balance: balance?.balance, creditLimit: balance?.creditLimit };
  return { checks: [prefix, statuses], orderPrefix, account };
}

function refusedEverywhere(configured: string, { kind, message }: Problem): OrderFindings {
  const got = `${show(configured)}: ${message}`;
  const key = { variable: 'PARTNER_API_KEY', remedy: 'Ask the partner whether this key may read orders.' };
  const prefix = {
    variable: VARIABLE,
    remedy: 'None of the known prefixes does either: ask the partner for the path.',
  };
  return { checks: [fault(NAME, EXPECTED, got, kind === 'access' ? key : prefix)] };
}

/** A path that is not there may be answered as an order that is not there. Where they differ, the prefix is right. */
async function checkUnknownOrder(probe: PartnerProbe, unknown: string): Promise<Check> {
  const configured = probe.settings.orderPrefix;
  const { problem } = await readOrder(probe, configured, unknown);
  const nowhere = await readOrder(probe, `/${unknown}`, unknown);
  const got = `the history is empty, and an unknown order is answered: ${problem?.message ?? 'as if it were there'}`;
  if (problem && isOtherAnswer(problem, nowhere.problem)) {
    return ok(NAME, EXPECTED, `${show(configured)}: ${got}; a path that is not there is answered differently`);
  }
  const remedy =
    'Run doctor again after the first purchase. A wrong prefix buys nothing: place-order is then answered 404.';
  return warning(NAME, EXPECTED, `${got}, just as a path that is not there`, { variable: VARIABLE, remedy });
}

function isOtherAnswer(one: Problem, other: Problem | undefined): boolean {
  const shape = (problem: Problem | undefined) =>
    problem && `${problem.kind} ${problem.httpStatus} ${problem.traceId !== undefined}`;
  return shape(one) !== shape(other);
}
