import { randomUUID } from 'node:crypto';
import { type Diagnosis, diagnose, formatDiagnosis } from '../../../src/cli/doctor';
import { readDoctorConfig } from '../../../src/config';
import { DEFAULT_LOOKBACK_MS } from '../../../src/contracts/reconciliation';
import { type Fault, type Settings, startSandbox } from '../../../sandbox';
import { createScheduleManager } from '../../../src/starter/reconciliation';
import { connectClient } from '../../../src/temporal/client';
import { closeAtEnd, temporaryFolder } from '../../support/clean-up';
import { type ProcessEnv, starterProcess, workerEnvOf } from '../../support/processes';
import type { Receiver } from '../../support/receiver';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from '../../support/settings';
import { sharedEnvironment } from '../../support/test-environment';

const OTHER_SECRET = `whsec_${Buffer.from('another-not-a-secret-another-one').toString('base64')}`;
const WRONG_KEY = 'a-key-of-somebody-else';
const BARE = `bare-${randomUUID()}`;

describe('doctor', () => {
  const env = sharedEnvironment({ ownNamespace: true, pastOrders: 60, settings: { partnerTimeoutMs: 5_000 } });
  const usual: Partial<Settings> = {};

  beforeAll(async () => {
    Object.assign(usual, env.sandbox.settings());
    const settings = { cron: '0 3 * * *', timezone: 'UTC', lookbackMs: DEFAULT_LOOKBACK_MS };
    await createScheduleManager(env.client, env.taskQueue).create(settings);
    const workflowExecutionRetentionPeriod = { seconds: (3 * 24 * 3_600) as never };
    await env.client.workflowService.registerNamespace({ namespace: BARE, workflowExecutionRetentionPeriod });
  });

  afterEach(() => {
    env.sandbox.settings(usual);
    env.sandbox.clearFaults();
    env.receiver.script();
    env.receiver.trust(TEST_SIGNING_SECRET);
  });

  /** What differs from a right configuration of a healthy world. */
  interface Case {
    variables?: ProcessEnv;
    address?: string;
    namespace?: string;
    aheadMs?: number;
    sandbox?: Partial<Settings>;
    fault?: Fault;
    receiver?: (receiver: Receiver) => void;
  }

  async function run(tried: Case = {}) {
    const { variables, address = env.address, namespace = env.namespace, aheadMs = 0 } = tried;
    if (tried.sandbox) env.sandbox.settings(tried.sandbox);
    if (tried.fault) env.sandbox.addFault(tried.fault);
    tried.receiver?.(env.receiver);
    const diagnosis = await diagnose({
      config: readDoctorConfig(workerEnvOf(env, variables)),
      connect: async () => {
        const target = { address, namespace, connectionOptions: { address } };
        const client = await connectClient(target, { tries: 1, everyMs: 5_000, onRetry: () => undefined });
        return { client, isKeyUnencrypted: false };
      },
      now: () => Date.now() + aheadMs,
    });
    const shown = JSON.stringify(diagnosis) + formatDiagnosis(diagnosis);
    for (const secret of ['sandbox-key', WRONG_KEY, TEST_SIGNING_SECRET, OTHER_SECRET, TEST_FINGERPRINT_SECRET]) {
      expect(shown).not.toContain(secret);
    }
    return diagnosis;
  }

  const faultsOf = ({ checks }: Diagnosis) =>
    checks.filter(({ level }) => level === 'problem').map(({ name, variable = 'none' }) => `${name} → ${variable}`);

  it('finds no fault in a correct setup, reports what the partner leaves undocumented, posts one signed event and buys nothing', async () => {
    const diagnosis = await run();
    expect(faultsOf(diagnosis)).toEqual([]);
    expect(diagnosis.checks.filter(({ level }) => level === 'warning')).toEqual([]);
    expect(diagnosis.exitCode).toBe(0);
    expect(diagnosis.partner?.history).toMatchObject({
      orders: 60,
      newestEnd: 'first',
      search: 'exact',
      largestPage: 500,
      statuses: { COMPLETED: expect.any(Number) as number },
    });
    expect(diagnosis.settings).toEqual({
      PARTNER_LIST_PREFIX: '/v1/partners',
      PARTNER_ORDER_PREFIX: '',
      PARTNER_HISTORY_SEARCH_PARAM: 'query',
      PARTNER_HISTORY_PAGE_PARAM: 'page',
      PARTNER_HISTORY_LIMIT_PARAM: 'limit',
    });
    // Nothing to paste: these settings are in use.
    expect(formatDiagnosis(diagnosis)).not.toContain('PARTNER_LIST_PREFIX=');
    expect([...env.receiver.events.values()].map(({ type }) => type)).toEqual(['doctor.test']);
    // As documented: a checkout's database may have no room for more.
    for (const { id } of env.receiver.attempts) expect(id.length).toBeLessThanOrEqual(40);
    expect(env.sandbox.requests()).toMatchObject({ place: 0, unknown: 0 });
  });

  it('does not mistake the second row of an order with a row per item for another page', async () => {
    const { id } = await env.sandbox.placeManualOrder({
      referenceId: 'TWO',
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    await env.sandbox.changeOrder(id, { shownRow: [{ item: { id: 'a' } }, { item: { id: 'b' } }] });
    expect(faultsOf(await run())).toEqual([]);
  });

  const key = { PARTNER_API_KEY: WRONG_KEY };
  const prefixes = { PARTNER_LIST_PREFIX: '/wrong', PARTNER_ORDER_PREFIX: '/wrong' };
  const misspelt = { DELIVERY_URL: undefined, FINGERPRINT_SECRET: 'short', PARTNER_ORDER_PREFIXX: '/v1' };
  const slower: Fault = { operation: 'keys', action: { type: 'answer', status: 429, headers: { 'retry-after': '0' } } };

  /** `works`: the settings that it says work. */
  type Row = Case & { works?: Record<string, unknown>; exitCode?: number };

  it.each<[string, Row, string[]]>([
    ['a wrong key', { variables: key }, ['partner: API key → PARTNER_API_KEY']],
    [
      'wrong prefixes',
      { variables: prefixes, works: { PARTNER_LIST_PREFIX: '/v1/partners', PARTNER_ORDER_PREFIX: '' } },
      ['partner: list prefix → PARTNER_LIST_PREFIX', 'partner: order prefix → PARTNER_ORDER_PREFIX'],
    ],
    [
      'a wrong key behind a wrong prefix',
      { variables: { ...key, ...prefixes } },
      ['partner: API key → PARTNER_API_KEY', 'partner: list prefix → PARTNER_LIST_PREFIX'],
    ],
    [
      'other parameter names',
      {
        sandbox: { searchParam: 'q', pageParam: 'page_number', limitParam: 'per_page' },
        works: {
          PARTNER_HISTORY_SEARCH_PARAM: 'q',
          PARTNER_HISTORY_PAGE_PARAM: 'page_number',
          PARTNER_HISTORY_LIMIT_PARAM: 'per_page',
        },
      },
      [
        'order history: page size → PARTNER_HISTORY_LIMIT_PARAM',
        'order history: page number → PARTNER_HISTORY_PAGE_PARAM',
        'order history: search → PARTNER_HISTORY_SEARCH_PARAM',
      ],
    ],
    [
      'a search that is ignored',
      { sandbox: { search: 'ignored' }, works: { PARTNER_HISTORY_PAGE_PARAM: 'page' } },
      ['order history: search → PARTNER_HISTORY_SEARCH_PARAM'],
    ],
    [
      'an unreachable partner',
      { variables: { PARTNER_BASE_URL: 'http://127.0.0.1:1' } },
      ['partner: reachable → PARTNER_BASE_URL'],
    ],
    [
      'a history that does not respond',
      { fault: { operation: 'orders', action: { type: 'hang' }, times: 'always' } },
      ['order history: first page → PARTNER_TIMEOUT'],
    ],
    ['a partner with a lower rate limit', { fault: slower, works: { PARTNER_MAX_RPS: expect.any(String) } }, []],
    ['a clock that is 20 s ahead', { aheadMs: 20_000 }, ['partner: clock → none', 'Temporal: clock → none']],
    [
      'a lookback beyond the retention of the namespace',
      { variables: { RECONCILE_LOOKBACK: '240h' } },
      ['Temporal: retention → RECONCILE_LOOKBACK', 'Temporal: schedule → RECONCILE_LOOKBACK'],
    ],
    ['a namespace that does not exist', { namespace: 'nowhere' }, ['Temporal: namespace → TEMPORAL_NAMESPACE']],
    [
      'a namespace that is not set up yet',
      { namespace: BARE },
      [
        'Temporal: search attributes → TEMPORAL_NAMESPACE',
        'Temporal: retention → RECONCILE_LOOKBACK',
        'Temporal: schedule → none',
      ],
    ],
    [
      'an unreachable Temporal server, which does not hide a wrong key',
      { address: '127.0.0.1:1', variables: key, exitCode: 69 },
      ['partner: API key → PARTNER_API_KEY', 'Temporal: address → TEMPORAL_ADDRESS'],
    ],
    [
      'invalid settings, which do not prevent the test of the partner',
      { variables: misspelt, exitCode: 78, works: { PARTNER_HISTORY_PAGE_PARAM: 'page' } },
      [
        'configuration: DELIVERY_URL → DELIVERY_URL',
        'configuration: FINGERPRINT_SECRET → FINGERPRINT_SECRET',
        'configuration: PARTNER_ORDER_PREFIXX → PARTNER_ORDER_PREFIXX',
      ],
    ],
    [
      'a partner that would get the key in plain text',
      { variables: { PARTNER_BASE_URL: 'http://192.0.2.1' }, exitCode: 78 },
      ['configuration: PARTNER_BASE_URL → PARTNER_BASE_URL'],
    ],
    ['404 from the checkout', { receiver: (to) => to.script(404) }, ['delivery: test event → DELIVERY_URL']],
    ['410 from the checkout', { receiver: (to) => to.script(410) }, ['delivery: test event → DELIVERY_URL']],
    ['403 from the checkout', { receiver: (to) => to.script(403) }, ['delivery: test event → DELIVERY_SECRET']],
    [
      'a checkout with another secret',
      { receiver: (to) => to.trust(OTHER_SECRET) },
      ['delivery: test event → DELIVERY_SECRET'],
    ],
  ])('%s: names the fault, its variable and the settings that work', async (_, row, problems) => {
    const { works = {}, exitCode = problems.length > 0 ? 1 : 0 } = row;
    const diagnosis = await run(row);
    expect(faultsOf(diagnosis)).toEqual(problems);
    expect(diagnosis.settings).toMatchObject(works);
    // What is in use already is not there to be pasted.
    const others = Object.entries(works).filter(([, value]) => value !== 'page');
    expect(diagnosis.changes).toMatchObject(Object.fromEntries(others));
    expect(diagnosis.changes).not.toHaveProperty('PARTNER_HISTORY_PAGE_PARAM', 'page');
    expect(diagnosis.exitCode).toBe(exitCode);
    expect(env.sandbox.requests().place).toBe(0);
  });

  it('warns about a catalogue whose products it cannot read', async () => {
    const products = [{ id: 'card-5', title: 'Card', price: '4.99' }];
    const { checks } = await run({
      fault: { operation: 'products', when: 'after', action: { type: 'merge', data: { products } } },
    });
    const warnings = checks.filter(({ level }) => level === 'warning');
    expect(warnings).toMatchObject([
      { name: 'partner: products', got: expect.stringContaining("can't be read, expected price: number") as string },
    ]);
  });

  it('praises neither the speed nor the rate limit of a partner that never responded', async () => {
    const namesOf = ({ checks }: Diagnosis) => checks.map(({ name }) => name);
    const ofResponses = ['partner: rate limit', 'partner: response time'];
    expect(namesOf(await run())).toEqual(expect.arrayContaining(ofResponses));
    const silent = namesOf(await run({ variables: { PARTNER_BASE_URL: 'http://127.0.0.1:1' } }));
    expect(silent.filter((name) => ofResponses.includes(name))).toEqual([]);
  });

  it('prints links to held, overdue and failed purchases, or names the variable that they need without reporting a fault', async () => {
    const known = await run({ variables: { TEMPORAL_UI_URL: 'http://ui.example:8233/' } });
    const shown = formatDiagnosis(known);
    const workflows = `http://ui.example:8233/namespaces/${env.namespace}/workflows?query=`;
    expect(shown.split(workflows)).toHaveLength(4);
    expect(Object.keys(known.views ?? {})).toEqual(['held', 'overdue', 'failedToday']);
    const unknown = await run();
    expect([unknown.views, faultsOf(unknown)]).toEqual([undefined, []]);
    expect(formatDiagnosis(unknown)).toContain('TEMPORAL_UI_URL=');
    expect(formatDiagnosis(await run({ address: '127.0.0.1:1' }))).not.toContain('TEMPORAL_UI_URL');
  });

  it('uses the singular for one problem, says what to check when Temporal is unreachable, and uses colours only on a terminal', async () => {
    const diagnosis = await run({ address: '127.0.0.1:1' });
    const words = formatDiagnosis(diagnosis);
    expect(words).toContain('1 problem, 0 warnings. Nothing was bought.');
    expect(words).toContain('TEMPORAL_ADDRESS: Check the address, and whether a server is running there');
    expect(words).toContain('Temporal: address: cannot connect to 127.0.0.1:1: connection refused\n');
    expect(words).not.toContain('\u001B');
    expect(formatDiagnosis(diagnosis, true)).toContain('\u001B[31mproblem');
  });

  it('prints one JSON document as a process, and covers an empty order history, a delivery folder and plain-text connections', async () => {
    const empty = await startSandbox();
    closeAtEnd(empty.close);
    // The same machine, by an address that is not loopback.
    const partner = empty.url.replace('127.0.0.1', '0.0.0.0');
    const variables = {
      PARTNER_BASE_URL: partner,
      DELIVERY_URL: undefined,
      DELIVERY_SECRET: undefined,
      PARTNER_TIMEOUT: '60s',
    };
    const plain = { ALLOW_PLAINTEXT: 'true', TEMPORAL_API_KEY: 'canary-temporal-key', TEMPORAL_TLS: 'false' };
    const doctor = workerEnvOf(env, { ...variables, ...plain, DELIVERY_DIR: temporaryFolder() });
    const { code, stdout } = await starterProcess(['doctor', '--json'], doctor);
    const diagnosis = JSON.parse(stdout) as Diagnosis;
    expect(diagnosis.checks.filter(({ level }) => level === 'warning').map(({ name }) => name)).toEqual([
      'configuration: PARTNER_BASE_URL',
      'order history: parameters',
      'partner: order prefix',
      'Temporal: API key',
    ]);
    const untested = diagnosis.checks.find(({ name }) => name === 'partner: order prefix')?.got;
    expect(untested).toBe(
      "can't be tested yet: the order history is empty, and the partner responds to unknown orders and unknown paths alike (404)",
    );
    expect(formatDiagnosis(diagnosis)).toContain(`partner: order prefix: ${untested}\n`);
    expect(stdout).not.toContain('canary-temporal-key');
    expect([code, diagnosis.problems]).toEqual([0, 0]);
    expect(stdout).not.toContain('sandbox-key');
  });
});
