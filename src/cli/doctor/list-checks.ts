import { type Check, fault, ok, type Problem, type Reading, warning } from './check';
import type { PartnerProbe } from './partner-probe';
import type { ProductPage } from '../../partner';

/** The prefixes that are tried where the configured one leads nowhere. */
export const KNOWN_PREFIXES = ['/v1/partners', '', '/v1', '/partners', '/v1/partner', '/api/v1/partners', '/api/v1'];

const REACHABLE = 'partner: reachable';
const KEY = 'partner: API key';
const PREFIX = 'partner: list prefix';
const EXPECTED_KEY = 'a key that the partner accepts';
const EXPECTED_PREFIX = 'the prefix of /products and /orders';

export interface ListFindings {
  checks: Check[];
  /** The prefix that works; absent where the rest can't be tried. */
  listPrefix?: string;
}

interface Candidate {
  prefix: string;
  reading: Reading<ProductPage>;
}

/** Whether the partner answers, takes the key, and under which prefix its lists are. */
export async function checkLists(probe: PartnerProbe): Promise<ListFindings> {
  const configured = probe.settings.listPrefix;
  const first = await readProducts(probe, configured);
  const { data, problem } = first.reading;
  if (data) return working(configured, data, ok(PREFIX, EXPECTED_PREFIX, show(configured)));
  if (problem.httpStatus === undefined) return { checks: [unreachable(problem)] };

  const others: Candidate[] = [];
  for (const prefix of KNOWN_PREFIXES.filter((known) => known !== configured)) {
    const candidate = await readProducts(probe, prefix);
    others.push(candidate);
    if (candidate.reading.data) {
      const wrong = wrongPrefix(configured, problem, `Set PARTNER_LIST_PREFIX=${prefix}, which answers.`);
      return working(prefix, candidate.reading.data, wrong);
    }
  }
  const answers = ok(REACHABLE, 'an answer', `${problem.message} (PARTNER_BASE_URL answers)`);
  return { checks: [answers, ...refusals(first, others)] };
}

async function readProducts(probe: PartnerProbe, listPrefix: string): Promise<Candidate> {
  const reading = await probe.read({ listPrefix }, (partner) => partner.listProducts({ limit: 1 }));
  return { prefix: listPrefix, reading };
}

function working(listPrefix: string, { hits }: ProductPage, prefix: Check): ListFindings {
  const products =
    hits > 0
      ? ok('partner: products', 'a catalogue', `${hits} products`)
      : warning('partner: products', 'a catalogue', 'an empty one', {
          remedy: 'Ask the partner whether this account may buy anything.',
        });
  const checks = [ok(REACHABLE, 'an answer', 'it answers'), ok(KEY, EXPECTED_KEY, 'it is accepted'), prefix, products];
  return { checks, listPrefix };
}

/** No prefix works. Where one of them asks for a key and others are not there, the key is what is wrong. */
function refusals(first: Candidate, others: readonly Candidate[]): Check[] {
  const configured = first.prefix;
  const problem = first.reading.problem as Problem;
  const refused = [first, ...others].filter(({ reading }) => reading.problem?.kind === 'access');
  if (refused.length === 0) return [wrongPrefix(configured, problem, NO_PREFIX)];

  const [{ prefix, reading }] = refused as [Candidate];
  const remedy = 'Set PARTNER_API_KEY, or PARTNER_API_KEY_FILE, to the key that the partner gave you.';
  const key = fault(KEY, EXPECTED_KEY, reading.problem?.message ?? '', { variable: 'PARTNER_API_KEY', remedy });
  if (problem.kind === 'access') {
    if (refused.length === 1) return [key, ok(PREFIX, EXPECTED_PREFIX, `${show(configured)}: it asks for the key`)];
    const why = 'every path asks for the key first';
    const unknown = warning(PREFIX, EXPECTED_PREFIX, why, { remedy: 'Run doctor again with the right key.' });
    return [key, unknown];
  }
  return [key, wrongPrefix(configured, problem, `Set PARTNER_LIST_PREFIX=${prefix}, which asks for the key.`)];
}

const NO_PREFIX =
  `None of these answers either: ${KNOWN_PREFIXES.map(show).join(', ')}. Ask the partner for the path of its lists, and ` +
  'check PARTNER_BASE_URL.';

function wrongPrefix(configured: string, problem: Problem, remedy: string): Check {
  const got = `${show(configured)}: ${problem.message}`;
  return fault(PREFIX, EXPECTED_PREFIX, got, { variable: 'PARTNER_LIST_PREFIX', remedy });
}

function unreachable({ message }: Problem): Check {
  const remedy = 'Check PARTNER_BASE_URL, the network between here and there, and PARTNER_TIMEOUT.';
  return fault(REACHABLE, 'an answer', message, { variable: 'PARTNER_BASE_URL', remedy });
}

/** A prefix as people can see it. */
export function show(prefix: string): string {
  return prefix === '' ? 'an empty prefix' : prefix;
}
