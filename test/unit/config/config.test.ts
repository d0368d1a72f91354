import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import {
  ConfigError,
  parseLookback,
  readPartnerConfig,
  readStarterConfig,
  readWorkerConfig,
  type WorkerConfig,
} from '../../../src/config';
import { temporaryFolder } from '../../support/clean-up';

const FINGERPRINT_SECRET = 'fake-fingerprint-secret-of-32-bytes-and-more';
const DELIVERY_SECRET = `whsec_${Buffer.alloc(32, 'fake').toString('base64')}`;

const GOOD = {
  PARTNER_BASE_URL: 'https://partner.example/api',
  PARTNER_API_KEY: 'fake-api-key',
  FINGERPRINT_SECRET,
  DELIVERY_URL: 'https://shop.example/events',
  DELIVERY_SECRET,
};

type Env = Record<string, string | undefined>;

/** The issues of an environment; empty if it is valid. */
function issuesOf(read: (env: Env) => unknown, env: Env): ConfigError['issues'] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}

const workerIssues = (change: Env) => issuesOf(readWorkerConfig, { ...GOOD, ...change });
const wrongNames = (change: Env) => workerIssues(change).map(({ variable }) => variable);

describe('a worker with only the required variables', () => {
  it('gets the documented defaults, durations in ms', () => {
    expect(readWorkerConfig(GOOD)).toEqual({
      taskQueue: 'fulfilment',
      allowPlaintext: false,
      logLevel: 'info',
      logFormat: 'json',
      partner: {
        baseUrl: 'https://partner.example/api',
        apiKey: expect.any(Function),
        listPrefix: '/v1/partners',
        orderPrefix: '',
        historyParams: { search: 'query', page: 'page', limit: 'limit' },
        timeoutMs: 15_000,
        maxBodyBytes: 33_554_432,
      },
      purchase: {
        placeWithinMs: 3_600_000,
        firstPollMs: 5_000,
        pollIntervalMs: 30_000,
        watch: 'orders',
        deadlineMs: 1_500_000,
        confirmWindowMs: 60_000,
        replace: 'answered',
        partnerTimeoutMs: 15_000,
        deliveryTimeoutMs: 15_000,
      },
      delivery: {
        kind: 'webhook',
        url: 'https://shop.example/events',
        secrets: expect.any(Function),
        timeoutMs: 15_000,
      },
      fingerprintSecrets: expect.any(Function),
      reportDir: 'reports',
      healthAddress: { host: '127.0.0.1', port: 8081 },
      metricsAddress: { host: '127.0.0.1', port: 9464 },
    });
  });

  it('logs in human-readable form on a terminal, unless configured otherwise', () => {
    const formatOf = (change: Env) => readWorkerConfig({ ...GOOD, ...change }, { terminal: true }).logFormat;
    expect([formatOf({}), formatOf({ LOG_FORMAT: 'json' })]).toEqual(['pretty', 'json']);
  });
});

describe('every variable', () => {
  const twoSecrets = `${FINGERPRINT_SECRET} older-${FINGERPRINT_SECRET}`;
  it.each<[string, string, (config: WorkerConfig) => unknown, unknown]>([
    ['PARTNER_BASE_URL', 'http://localhost:4010', ({ partner }) => partner.baseUrl, 'http://localhost:4010'],
    ['PARTNER_API_KEY', 'another-key', ({ partner }) => partner.apiKey(), 'another-key'],
    ['PARTNER_LIST_PREFIX', '/lists', ({ partner }) => partner.listPrefix, '/lists'],
    ['PARTNER_ORDER_PREFIX', '/v1/partners', ({ partner }) => partner.orderPrefix, '/v1/partners'],
    ['PARTNER_HISTORY_SEARCH_PARAM', 'search', ({ partner }) => partner.historyParams?.search, 'search'],
    ['PARTNER_HISTORY_PAGE_PARAM', 'p', ({ partner }) => partner.historyParams?.page, 'p'],
    ['PARTNER_HISTORY_LIMIT_PARAM', 'n', ({ partner }) => partner.historyParams?.limit, 'n'],
    ['PARTNER_TIMEOUT', '500ms', ({ partner, purchase }) => [partner.timeoutMs, purchase.partnerTimeoutMs], [500, 500]],
    ['PARTNER_MAX_BODY', '64MiB', ({ partner }) => partner.maxBodyBytes, 67_108_864],
    ['PARTNER_MAX_RPS', '2.5', ({ partner }) => partner.maxRequestsPerSecond, 2.5],
    ['PURCHASE_PLACE_WITHIN', '2h', ({ purchase }) => purchase.placeWithinMs, 7_200_000],
    ['PURCHASE_FIRST_POLL', '1ms', ({ purchase }) => purchase.firstPollMs, 1],
    ['PURCHASE_POLL_INTERVAL', '1s', ({ purchase }) => purchase.pollIntervalMs, 1_000],
    ['PURCHASE_WATCH', 'history', ({ purchase }) => purchase.watch, 'history'],
    ['PURCHASE_DEADLINE', '24h', ({ purchase }) => purchase.deadlineMs, 86_400_000],
    ['PURCHASE_CONFIRM_WINDOW', '2m', ({ purchase }) => purchase.confirmWindowMs, 120_000],
    ['PURCHASE_REPLACE', 'never', ({ purchase }) => purchase.replace, 'never'],
    ['FINGERPRINT_SECRET', twoSecrets, (config) => config.fingerprintSecrets(), twoSecrets.split(' ')],
    ['DELIVERY_URL', 'https://a.example', ({ delivery }) => delivery, { kind: 'webhook', url: 'https://a.example' }],
    ['DELIVERY_TIMEOUT', '3s', ({ purchase }) => purchase.deliveryTimeoutMs, 3_000],
    ['WORKER_DEPLOYMENT_VERSION', 'a/b.1.4+1a', (config) => config.deploymentVersion?.deploymentName, 'a/b'],
    ['WORKER_DEPLOYMENT_VERSION', 'a/b.1.4+1a', (config) => config.deploymentVersion?.buildId, '1.4+1a'],
    ['HEALTH_ADDRESS', '[::1]:8081', ({ healthAddress }) => healthAddress, { host: '::1', port: 8081 }],
    ['METRICS_ADDRESS', '0.0.0.0:9464', ({ metricsAddress }) => metricsAddress, { host: '0.0.0.0', port: 9464 }],
    ['TEMPORAL_TASK_QUEUE', 'other', ({ taskQueue }) => taskQueue, 'other'],
    ['TEMPORAL_UI_URL', 'https://ui.example/x', ({ temporalUiUrl }) => temporalUiUrl, 'https://ui.example/x'],
    ['LOG_LEVEL', 'debug', ({ logLevel }) => logLevel, 'debug'],
    ['LOG_FORMAT', 'pretty', ({ logFormat }) => logFormat, 'pretty'],
  ])('%s can be set to %s and takes effect', (name, written, read, expected) => {
    expect({ read: read(readWorkerConfig({ ...GOOD, [name]: written })) }).toMatchObject({ read: expected });
  });

  it.each([
    ['PARTNER_TIMEOUT', ['15', '15 s', '1.5s', '-1s', '0s', '11m', '1d', 'soon']],
    ['PURCHASE_DEADLINE', ['0ms', '999999999999h', '25M']],
    ['PARTNER_MAX_BODY', ['0MiB', '257MiB', '64', '64MB', '64 MiB', '1.5MiB', '-1MiB', '1GiB']],
    ['PARTNER_MAX_RPS', ['0', '0.19', '-1', 'Infinity', '1e3', 'many', '0x10']],
    ['PARTNER_BASE_URL', ['partner.example', 'ftp://partner.example', 'https:partner.example', '', undefined]],
    ['PARTNER_BASE_URL', ['?x=1', '?', '#', ' b'].map((end) => `https://a.example/${end}`)],
    ['PARTNER_BASE_URL', ['https://user:pass@a.example', 'https://@a.example']],
    ['PARTNER_LIST_PREFIX', ['v1', '/v1/', '/', '/v1//x', '/../admin', '/v1?x', '/%2e%2e']],
    ['PARTNER_HISTORY_PAGE_PARAM', ['a b', 'a&b', 'a=b']],
    ['PARTNER_API_KEY', [' ', 'two words', 'line\nbreak', 'schlüssel', '', undefined]],
    ['PURCHASE_REPLACE', ['Never', 'yes']],
    ['HEALTH_ADDRESS', ['8081', ':8081', 'localhost', '127.0.0.1:65536', '::1:8081', '[127.0.0.1]:80', 'http://a:1']],
    ['METRICS_ADDRESS', ['localhost:9464', '999.1.1.1:9464']],
    ['WORKER_DEPLOYMENT_VERSION', ['fulfilment', '.1', 'fulfilment.', 'a:b.1', 'a.b:1', '__a.1', 'a.__1', 'a.1 2']],
    ['ALLOW_PLAINTEXT', ['yes', '1']],
    ['TEMPORAL_UI_URL', ['localhost:8233', 'https://user:pass@ui.example', 'http://ui.example/?namespace=x']],
    ['LOG_LEVEL', ['INFO', 'verbose']],
    ['LOG_FORMAT', ['text']],
    ['TEMPORAL_TASK_QUEUE', ['a\nb', 'a"b', "a'b", 'a\\b']],
    ['TEMPORAL_API_KEY', [' ', 'line\nbreak', 'at-its-end\n']],
    ['FINGERPRINT_SECRET', [' ', 'short', `${FINGERPRINT_SECRET} short`, '', undefined]],
    ['DELIVERY_SECRET', [DELIVERY_SECRET.slice(6), 'whsec_', 'whsec_short', 'whsec_%%%', `${DELIVERY_SECRET} other`]],
    ['DELIVERY_SECRET', [...[65, 23].map((size) => `whsec_${Buffer.alloc(size).toString('base64')}`), '', undefined]],
  ])('%s, and only this variable, is rejected for each of %j', (name, values) => {
    for (const value of values) expect([value, wrongNames({ [name]: value })]).toEqual([value, [name]]);
  });

  it('that is empty counts as unset, because compose files leave variables empty', () => {
    const empty = { PARTNER_MAX_RPS: '', PARTNER_TIMEOUT: '', DELIVERY_DIR: '', LOG_FORMAT: '' };
    const config = readWorkerConfig({ ...GOOD, ...empty });
    expect(config.partner.maxRequestsPerSecond).toBeUndefined();
    expect(config.partner.timeoutMs).toBe(15_000);
    // A prefix may be empty on purpose.
    expect(readWorkerConfig({ ...GOOD, PARTNER_LIST_PREFIX: '' }).partner.listPrefix).toBe('');
  });
});

describe('the output folders of a worker', () => {
  const own = { ...GOOD, DELIVERY_URL: undefined };
  const folders = (DELIVERY_DIR: string, REPORT_DIR: string) => ({ ...own, DELIVERY_DIR, REPORT_DIR });
  const tried = (env: Env) => readWorkerConfig(env, { tryFolders: true });

  it('are created and left empty, and only the owner may enter the one for keys', () => {
    const [deliveries, reports] = ['deliveries', 'reports'].map((name) => join(temporaryFolder(), 'made', name));
    const { delivery, reportDir } = tried(folders(deliveries!, reports!));
    expect([delivery, reportDir]).toEqual([{ kind: 'folder', dir: deliveries }, reports]);
    expect([readdirSync(deliveries!), readdirSync(reports!)]).toEqual([[], []]);
    expect(statSync(deliveries!).mode & 0o777).toBe(0o700);
  });

  it('are rejected at start-up if they are not writable, with the reason and together with all other issues', () => {
    const inTheWay = join(temporaryFolder(), 'file');
    writeFileSync(inTheWay, '');
    const issues = issuesOf(tried, { ...folders(inTheWay, join(inTheWay, 'reports')), PARTNER_TIMEOUT: 'soon' });
    const named = issues.map(({ variable }) => variable).toSorted();
    expect(named).toEqual(['DELIVERY_DIR', 'PARTNER_TIMEOUT', 'REPORT_DIR']);
    expect(issues.find(({ variable }) => variable === 'DELIVERY_DIR')?.got).toContain('EEXIST');
  });
});

describe('a combination of variables', () => {
  it.each<[string, Env, string, string]>([
    ['PARTNER_HISTORY_PAGE_PARAM', { PARTNER_HISTORY_PAGE_PARAM: 'query' }, 'the name of another parameter', '"query"'],
    [
      'PARTNER_HISTORY_LIMIT_PARAM',
      { PARTNER_HISTORY_SEARCH_PARAM: 'limit' },
      'the name of another parameter by default',
      'limit (the default)',
    ],
    ['METRICS_ADDRESS', { METRICS_ADDRESS: '127.0.0.1:8081' }, 'the address of another server', '"127.0.0.1:8081"'],
    ['DELIVERY_URL', { DELIVERY_URL: undefined }, 'no destination, and none is guessed', 'neither'],
    ['DELIVERY_URL', { DELIVERY_DIR: 'x' }, 'two destinations', 'both'],
  ])('is rejected as %s with %j: %s', (variable, change, _, got) => {
    expect(workerIssues(change)).toEqual([expect.objectContaining({ variable, got })]);
  });

  it.each([
    ['0.26', '15s', '0.27'],
    ['0.49', '1s', '0.5'],
  ])(
    'is rejected if no order could be placed with PARTNER_MAX_RPS=%s and PARTNER_TIMEOUT=%s',
    (rate, timeout, lowest) => {
      const remedy = `Set PARTNER_MAX_RPS=${lowest}, or raise PARTNER_TIMEOUT.`;
      const issues = workerIssues({ PARTNER_MAX_RPS: rate, PARTNER_TIMEOUT: timeout });
      expect(issues).toEqual([expect.objectContaining({ variable: 'PARTNER_MAX_RPS', remedy })]);
      expect(wrongNames({ PARTNER_MAX_RPS: lowest, PARTNER_TIMEOUT: timeout })).toEqual([]);
    },
  );

  it.each<[string, Env]>([
    ['a folder and no secret', { DELIVERY_URL: undefined, DELIVERY_SECRET: undefined, DELIVERY_DIR: 'x' }],
    ['a deadline before the first poll, because there is always a poll at the deadline', { PURCHASE_DEADLINE: '2s' }],
    ['port 0 for both servers', { HEALTH_ADDRESS: '127.0.0.1:0', METRICS_ADDRESS: '127.0.0.1:0' }],
  ])('is accepted with %s', (_, change) => {
    expect(wrongNames(change)).toEqual([]);
  });
});

describe('an http: URL', () => {
  const others = [
    'http://a.example',
    'HTTP://10.0.0.1:80',
    'http://127.0.0.1.a.example',
    'http://[::2]',
    'http://0.0.0.0',
  ];
  const here = ['http://localhost:1', 'http://127.0.0.1/a', 'http://127.1', 'http://[::1]:4010', 'https://a.example'];

  it.each(['PARTNER_BASE_URL', 'DELIVERY_URL'])(
    'to another machine is rejected as %s unless plain text is allowed',
    (name) => {
      const remedy = expect.stringContaining('ALLOW_PLAINTEXT=true') as string;
      for (const url of others) {
        const issues = workerIssues({ [name]: url });
        expect([url, issues]).toEqual([url, [expect.objectContaining({ variable: name, remedy })]]);
        expect(JSON.stringify(issues)).not.toContain(url);
        expect([url, wrongNames({ [name]: url, ALLOW_PLAINTEXT: 'true' })]).toEqual([url, []]);
      }
      for (const url of here) expect([url, wrongNames({ [name]: url })]).toEqual([url, []]);
    },
  );

  it('is also rejected before a command contacts the partner', () => {
    const partner = { PARTNER_BASE_URL: 'http://a.example', PARTNER_API_KEY: 'fake' };
    expect(issuesOf(readPartnerConfig, partner)).toHaveLength(1);
    expect(issuesOf(readPartnerConfig, { ...partner, ALLOW_PLAINTEXT: 'true' })).toEqual([]);
  });
});

describe('a misspelt name', () => {
  it('is reported with the closest valid name, so that a default is never used silently', () => {
    const [issue] = workerIssues({ PURCHASE_DEADLNE: '1h' });
    expect(issue).toMatchObject({ variable: 'PURCHASE_DEADLNE', remedy: expect.stringContaining('PURCHASE_DEADLINE') });
  });

  it('is found, but names that belong to other programs are not reported', () => {
    const misspelt =
      'PARTNER_APIKEY PARTNER_TIMEOUT_FILE DELIVERY_SECRETS FINGERPRINT_SECRETS RECONCILE_LOOKBAK WORKER_DEPLOYMENT_VERSON';
    const others = 'RECONCILE_CRON DELIVERY_SERVICE_HOST DELIVERY_PORT_80_TCP_ADDR DELIVERYMAN TEMPORAL_ADRESS';
    const reported = (names: string) => names.split(' ').flatMap((name) => wrongNames({ [name]: 'x' }));
    expect([reported(misspelt), reported(others)]).toEqual([misspelt.split(' '), []]);
  });

  it('is not reported by the starter in a checkout, which has variables of its own', () => {
    expect(issuesOf(readStarterConfig, { DELIVERY_COST: '4.90', PURCHASE_TAX: '19' })).toEqual([]);
    const partner = { PARTNER_BASE_URL: 'https://a.example', PARTNER_API_KEY: 'fake', DELIVERY_COST: '4.90' };
    expect(issuesOf(readPartnerConfig, partner)).toEqual([]);
    expect(issuesOf(readPartnerConfig, { ...partner, PARTNER_TIMEOT: '1s' })).toHaveLength(1);
  });
});

describe('the starter', () => {
  it("needs none of the worker's secrets, and reads none of its settings", () => {
    expect(readStarterConfig({ LOG_LEVEL: 'loud', PARTNER_TIMEOUT: 'soon' })).toEqual({
      taskQueue: 'fulfilment',
      allowPlaintext: false,
    });
  });

  it("knows the address of the Temporal UI only if it is set, and never guesses it from the server's address", () => {
    expect(readStarterConfig({ TEMPORAL_ADDRESS: 'localhost:7233' }).temporalUiUrl).toBeUndefined();
    expect(readStarterConfig({ TEMPORAL_UI_URL: 'http://ui.example' }).temporalUiUrl).toBe('http://ui.example');
  });

  it('requires the partner variables only for commands that contact the partner', () => {
    const required = issuesOf(readPartnerConfig, {}).map(({ variable }) => variable);
    expect(required).toEqual(['PARTNER_BASE_URL', 'PARTNER_API_KEY']);
  });
});

it('a lookback on the command line is read like RECONCILE_LOOKBACK, with the same limits', () => {
  expect(parseLookback('90m').ms).toBe(5_400_000);
  const expected = expect.stringContaining('from 1m to 8760h') as string;
  for (const wrong of ['3d', '59s', '8761h', '']) expect(parseLookback(wrong)).toEqual({ ms: undefined, expected });
});

describe('a shell command instead of its output, which .env would not run,', () => {
  it.each([
    ['FINGERPRINT_SECRET', '$(openssl rand -hex 32)', 'Run `openssl rand -hex 32` and paste its output.'],
    ['FINGERPRINT_SECRET', '$(</run/secrets/a-path-that-is-as-long-as-a-secret)', 'Run `openssl rand -hex 32`'],
    ['DELIVERY_SECRET', 'whsec_`openssl rand -base64 32`', 'Run `echo "whsec_$(openssl rand -base64 32)"` and paste'],
    ['PARTNER_API_KEY', '$(pass partner)', 'Set it like this: PARTNER_API_KEY=the API key that you were given.'],
    ['PARTNER_API_KEY', '`pass`', 'Set it like this:'],
    ['PARTNER_BASE_URL', 'https://$(hostname)/', 'Set it like this: PARTNER_BASE_URL=https://partner.example.'],
  ])('is recognised in %s: %s', (name, value, remedy) => {
    const [issue, ...more] = workerIssues({ [name]: value });
    expect(more).toEqual([]);
    expect(issue?.got).toBe(
      'a shell command, in $(…) or backticks, instead of its output: nothing runs it here (not shown)',
    );
    expect(issue?.remedy).toContain(remedy);
  });

  it('is never suggested: the advice is to run a command and paste its output', () => {
    const remedies = ['FINGERPRINT_SECRET', 'DELIVERY_SECRET'].flatMap((name) => workerIssues({ [name]: undefined }));
    expect(remedies.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining('Run `openssl rand -hex 32` to make one.'),
      expect.stringContaining('Run `echo "whsec_$(openssl rand -base64 32)"` to make one.'),
    ]);
    const paste = 'Set it to a secret of your own, or FINGERPRINT_SECRET_FILE to the path of a file';
    expect(remedies[0]?.remedy).toContain(paste);
  });
});

describe('an error message about the configuration', () => {
  it('never contains a secret or a part of one', () => {
    const secret = fc.stringMatching(/^[\x20-\x7e]{8,80}$/);
    const names = fc.constantFrom('PARTNER_API_KEY', 'FINGERPRINT_SECRET', 'DELIVERY_SECRET');
    let rejected = 0;
    fc.assert(
      fc.property(names, secret, fc.constantFrom('', ' ', '\u0000', 'ü'), (name, text, spoilt) => {
        const marked = `Zq7#${text}${spoilt}Zq7#`;
        const issues = workerIssues({ [name]: `${marked} ${marked}` });
        if (issues.length === 0) return;
        rejected += 1;
        const said = inspect(new ConfigError(issues), { depth: 9 });
        expect(said).not.toContain('Zq7#');
      }),
    );
    expect(rejected).toBeGreaterThan(50);
  });

  it.each(['https://user:hidden-word@a.example', 'https://a.example/?token=hidden-word', 'https://hidden-word@'])(
    'never shows a rejected URL, which may contain a password: %s',
    (url) => {
      const issues = workerIssues({ PARTNER_BASE_URL: url, DELIVERY_URL: url });
      expect(issues).toHaveLength(2);
      expect(inspect(new ConfigError(issues), { depth: 9 })).not.toContain('hidden-word');
    },
  );
});

it.each([
  ['inspected', (value: unknown) => inspect(value, { depth: 9, showHidden: true })],
  ['as JSON', (value: unknown) => JSON.stringify(value)],
  ['formatted', (value: unknown) => format('%s %o %j', (value as WorkerConfig).fingerprintSecrets, value, value)],
])('a printed configuration shows no secret: %s', (_, print) => {
  const printed = print(readWorkerConfig(GOOD));
  for (const secret of ['fake-api-key', FINGERPRINT_SECRET, DELIVERY_SECRET]) expect(printed).not.toContain(secret);
});

it('a duration is read in its unit', () => {
  const read = (written: string) => readWorkerConfig({ ...GOOD, PURCHASE_CONFIRM_WINDOW: written }).purchase;
  const inMs = ['7ms', '7s', '7m', '7h'].map((written) => read(written).confirmWindowMs);
  expect(inMs).toEqual([7, 7_000, 420_000, 25_200_000]);
});
