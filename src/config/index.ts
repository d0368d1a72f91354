import { ConfigError, type ConfigIssue, type Environment, type ReadOptions, readVariables, type Values } from './read';
import { describeVariable, plaintextUrls, SECTIONS } from './variables';

export { envFileAdvice, loadEnvFile } from './env-file';
export { ConfigError, type ConfigIssue } from './read';

const { temporal, partner, purchase, delivery, reconciliation, worker } = SECTIONS;

const FOLDERS = { DELIVERY_DIR: 'deliveries', REPORT_DIR: 'reports' } as const;

interface WorkerOptions extends ReadOptions {
  /** The output goes to a terminal, so logs are `pretty` unless LOG_FORMAT says otherwise. Default: false. */
  terminal?: boolean;
  /** Try the folders: create each one, write a file into it and remove the file. Default: false. */
  tryFolders?: boolean;
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/**
 * Reads the whole configuration of a worker. Durations are in ms. A secret is a function, because it may change with
 * its file.
 *
 * @throws ConfigError that names every invalid variable and every misspelt name.
 */
export function readWorkerConfig(env: Environment = process.env, options: WorkerOptions = {}) {
  const prefixes = ['PARTNER_', 'PURCHASE_', 'DELIVERY_', 'RECONCILE_', 'FINGERPRINT_', 'WORKER_DEPLOYMENT_'];
  const folders = options.tryFolders ? FOLDERS : undefined;
  const sections = { ...temporal, ...partner, ...purchase, ...delivery, ...worker };
  const values = readVariables(sections, env, prefixes, { ...options, folders });
  return {
    ...starterConfig(values),
    partner: partnerConfig(values),
    purchase: {
      placeWithinMs: values.PURCHASE_PLACE_WITHIN,
      firstPollMs: values.PURCHASE_FIRST_POLL,
      pollIntervalMs: values.PURCHASE_POLL_INTERVAL,
      watch: values.PURCHASE_WATCH,
      deadlineMs: values.PURCHASE_DEADLINE,
      confirmWindowMs: values.PURCHASE_CONFIRM_WINDOW,
      replace: values.PURCHASE_REPLACE,
      partnerTimeoutMs: values.PARTNER_TIMEOUT,
      deliveryTimeoutMs: values.DELIVERY_TIMEOUT,
    },
    delivery: deliveryConfig(values),
    /** Newest first. */
    fingerprintSecrets: values.FINGERPRINT_SECRET,
    /** The folder in which reconciliations write their reports. */
    reportDir: values.REPORT_DIR,
    /** Undefined: the worker is not versioned. */
    deploymentVersion: values.WORKER_DEPLOYMENT_VERSION,
    healthAddress: values.HEALTH_ADDRESS,
    metricsAddress: values.METRICS_ADDRESS,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT ?? (options.terminal ? ('pretty' as const) : ('json' as const)),
  };
}

/**
 * Reads what every command needs in addition to Temporal's own variables. Unknown names are allowed: a checkout may have
 * variables of its own with the same prefixes.
 *
 * @throws ConfigError
 */
export function readStarterConfig(env: Environment = process.env, options: ReadOptions = {}) {
  return starterConfig(readVariables(temporal, env, [], options));
}

/**
 * Reads what the commands that call the partner need.
 *
 * @throws ConfigError
 */
export function readPartnerConfig(env: Environment = process.env, options: ReadOptions = {}) {
  return partnerConfig(readVariables(partner, env, ['PARTNER_'], options));
}

/**
 * Reads what the reconciliation commands need.
 *
 * @throws ConfigError
 */
export function readScheduleConfig(env: Environment = process.env, options: ReadOptions = {}) {
  return scheduleConfig(readVariables(reconciliation, env, ['RECONCILE_'], options));
}

/** The environment, which also contains Temporal's own variables. */
export function environment(): Environment {
  return process.env;
}

/** What `doctor` tries. A part that can't be used is absent, and `issues` gives the reason. */
export type DoctorConfig = ReturnType<typeof readDoctorConfig>;

/**
 * Reads the configuration of the worker and of the schedule, each part separately, so that an issue in one part does not
 * hide issues in another. It also tries to write into DELIVERY_DIR.
 */
export function readDoctorConfig(env: Environment = process.env, options: ReadOptions = {}) {
  const { DELIVERY_DIR } = FOLDERS;
  const issues = new Map<string, ConfigIssue>();
  const warnings = new Set<string>();
  const reading = { onProblem: (problem: string) => void warnings.add(problem), ...options };
  const collectIssues = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const issue of error.issues) issues.set(JSON.stringify(issue), issue);
      return undefined;
    }
  };
  const read = collectIssues(() => readVariables(temporal, env, [], reading));
  const parts = {
    partner: collectIssues(() => partnerConfig(readVariables(partner, env, [], reading))),
    taskQueue: read?.TEMPORAL_TASK_QUEUE,
    temporalUiUrl: read?.TEMPORAL_UI_URL,
    schedule: collectIssues(() => scheduleConfig(readVariables(reconciliation, env, [], reading))),
    delivery: collectIssues(() =>
      deliveryConfig(readVariables(delivery, env, [], { ...reading, folders: { DELIVERY_DIR } })),
    ),
  };
  // This covers the worker's remaining variables and unknown names.
  collectIssues(() => readWorkerConfig(env, reading));
  const plaintext = env.ALLOW_PLAINTEXT === 'true' ? plaintextUrls(env) : [];
  return { ...parts, plaintext, issues: [...issues.values()], warnings: [...warnings] };
}

/**
 * Parses a lookback from the command line by the rules of RECONCILE_LOOKBACK. `expected` ends the sentence "expected
 * …".
 */
export function parseLookback(written: string) {
  const { data: ms } = reconciliation.RECONCILE_LOOKBACK.safeParse(written);
  return { ms, expected: describeVariable('RECONCILE_LOOKBACK').expected };
}

/** Names of variables with secrets: this project's, any spelling of Temporal's and OpenTelemetry's, and others. */
const MAY_BE_SECRET =
  /KEY|SECRET|TOKEN|PASS|AUTH|CREDENTIAL|HEADERS|^TEMPORAL_(?!(ADDRESS|NAMESPACE|TASK_QUEUE|PROFILE|CONFIG_FILE)$)/i;
/** A URL with credentials, such as the URL of a proxy. */
const HAS_CREDENTIALS = /:\/\/[^/\s]*@/;

/**
 * Removes the secrets from the environment once everything has read them: Node's diagnostic reports print the
 * environment, and child processes inherit it.
 */
export function scrubSecrets(env: Record<string, string | undefined> = process.env): void {
  for (const [name, value = ''] of Object.entries(env)) {
    if (MAY_BE_SECRET.test(name) || HAS_CREDENTIALS.test(value)) delete env[name];
  }
}

function starterConfig(values: Values<typeof temporal>) {
  return {
    taskQueue: values.TEMPORAL_TASK_QUEUE,
    /** Undefined if it is not set; the file that TEMPORAL_CONFIG_FILE names may still contain an API key. */
    temporalApiKey: values.TEMPORAL_API_KEY,
    allowPlaintext: values.ALLOW_PLAINTEXT,
    /** Undefined: nothing links to the Temporal UI. */
    temporalUiUrl: values.TEMPORAL_UI_URL,
    /** Where traces go. Undefined: nothing is traced. */
    tracingEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}

function partnerConfig(values: Values<typeof partner>) {
  return {
    baseUrl: values.PARTNER_BASE_URL,
    apiKey: values.PARTNER_API_KEY,
    listPrefix: values.PARTNER_LIST_PREFIX,
    orderPrefix: values.PARTNER_ORDER_PREFIX,
    historyParams: {
      search: values.PARTNER_HISTORY_SEARCH_PARAM,
      page: values.PARTNER_HISTORY_PAGE_PARAM,
      limit: values.PARTNER_HISTORY_LIMIT_PARAM,
    },
    timeoutMs: values.PARTNER_TIMEOUT,
    maxRequestsPerSecond: values.PARTNER_MAX_RPS,
    maxBodyBytes: values.PARTNER_MAX_BODY,
  };
}

function scheduleConfig(values: Values<typeof reconciliation>) {
  return {
    cron: values.RECONCILE_CRON,
    timezone: values.RECONCILE_TIMEZONE,
    lookbackMs: values.RECONCILE_LOOKBACK,
  };
}

function deliveryConfig(values: Values<typeof delivery>) {
  const { DELIVERY_URL: url, DELIVERY_SECRET: secrets, DELIVERY_DIR: dir, DELIVERY_TIMEOUT: timeoutMs } = values;
  if (url !== undefined && secrets !== undefined) return { kind: 'webhook' as const, url, secrets, timeoutMs };
  if (dir !== undefined) return { kind: 'folder' as const, dir };
  throw new Error('a configuration without a destination passed the checks');
}
