import type { z } from 'zod';
import { type Environment, type ReadOptions, readVariables } from './read';
import { ConfigError, type ConfigIssue } from './error';
import {
  deliveryVariables,
  describeVariable,
  partnerVariables,
  scheduleVariables,
  SECRET_NAMES,
  starterVariables,
  workerVariables,
} from './variables';

export { ConfigError, type ConfigIssue } from './error';

/*
 * The only reader of process.env. The types of what it reads follow from the schema in variables.ts; those who use the
 * settings declare for themselves what they take.
 */

interface LogOptions extends ReadOptions {
  /** Whether the output goes to a terminal: logs are then `pretty` unless LOG_FORMAT says otherwise. Default: no. */
  terminal?: boolean;
}

/** Only the owner may enter the folder that holds keys; a report holds none, and is read by others. */
const FOLDERS = {
  DELIVERY_DIR: { mode: 0o700, forDeliveries: true },
  REPORT_DIR: { mode: 0o755, forDeliveries: false },
};

interface WorkerOptions extends LogOptions {
  /** Whether the folders are tried: each is made, and a file is written to it, as it will be, and removed. Default: no. */
  tryFolders?: boolean;
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/**
 * The whole configuration of a worker. Durations are in ms; a secret is a function that follows the file that the secret
 * is read from.
 *
 * @throws ConfigError that names every wrong variable, also one that looks like ours and is not.
 */
export function readWorkerConfig(env: Environment = process.env, options: WorkerOptions = {}) {
  const prefixes = ['PARTNER_', 'PURCHASE_', 'DELIVERY_', 'RECONCILE_', 'WORKER_DEPLOYMENT_'];
  const folders = options.tryFolders ? FOLDERS : undefined;
  const values = readVariables(workerVariables, env, prefixes, { ...options, folders });
  return {
    ...starterConfig(values, options),
    partner: partnerConfig(values),
    purchase: purchaseSettings(values),
    delivery: deliveryConfig(values),
    /** Newest first. */
    fingerprintSecrets: values.FINGERPRINT_SECRET,
    /** Where reconciliations write their reports. */
    reportDir: values.REPORT_DIR,
    /** Undefined: the worker is not versioned. */
    deploymentVersion: values.WORKER_DEPLOYMENT_VERSION,
    /** What is not set fits the machine. */
    capacity: {
      workflowThreads: values.WORKER_WORKFLOW_THREADS,
      cachedWorkflows: values.WORKER_CACHED_WORKFLOWS,
      workflowTasks: values.WORKER_WORKFLOW_TASKS,
      activities: values.WORKER_ACTIVITIES,
    },
    healthAddress: values.HEALTH_ADDRESS,
    metricsAddress: values.METRICS_ADDRESS,
  };
}

/**
 * What every command of the starter needs besides Temporal's own variables. Unknown names are allowed here: a checkout's
 * environment is its own.
 *
 * @throws ConfigError
 */
export function readStarterConfig(env: Environment = process.env, options: LogOptions = {}) {
  return starterConfig(readVariables(starterVariables, env, [], options), options);
}

/** What the commands that ask the partner need. @throws ConfigError */
export function readPartnerConfig(env: Environment = process.env, options: ReadOptions = {}) {
  return partnerConfig(readVariables(partnerVariables, env, ['PARTNER_'], options));
}

/** What the commands of the reconciliation need. @throws ConfigError */
export function readScheduleConfig(env: Environment = process.env, options: ReadOptions = {}) {
  return scheduleConfig(readVariables(scheduleVariables, env, ['RECONCILE_'], options));
}

/** What `doctor` tries. A part that can't be used is absent, and `issues` says why. */
export type DoctorConfig = ReturnType<typeof readDoctorConfig>;

/**
 * The worker's configuration and the schedule's, in parts that are read each for itself: a fault in one hides none in another.
 * Tries to write into DELIVERY_DIR.
 */
export function readDoctorConfig(env: Environment = process.env, options: ReadOptions = {}) {
  const { DELIVERY_DIR } = FOLDERS;
  const issues = new Map<string, ConfigIssue>();
  const read = <T>(part: () => T): T | undefined => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const issue of error.issues) issues.set(JSON.stringify(issue), issue);
      return undefined;
    }
  };
  const values = <S extends z.ZodObject>(schema: S, folders = {}) =>
    readVariables(schema, env, [], { ...options, folders });
  const parts = {
    partner: read(() => partnerConfig(values(partnerVariables))),
    taskQueue: read(() => values(starterVariables).TEMPORAL_TASK_QUEUE),
    schedule: read(() => scheduleConfig(values(scheduleVariables))),
    delivery: read(() => deliveryConfig(values(deliveryVariables, { DELIVERY_DIR }))),
  };
  // The rest of what the worker reads, and names that nobody knows.
  read(() => readWorkerConfig(env, options));
  return { ...parts, issues: [...issues.values()] };
}

/**
 * A look-back that a person types, read as RECONCILE_LOOKBACK is.
 *
 * @returns milliseconds.
 * @throws Error that ends the sentence "expected …".
 */
export function parseLookback(written: string): number {
  const { data } = scheduleVariables.shape.RECONCILE_LOOKBACK.safeParse(written);
  if (data === undefined) throw new Error(describeVariable('RECONCILE_LOOKBACK').expected);
  return data;
}

/** What the conventions of Temporal and OpenTelemetry put into the environment and nobody may see. */
const OTHER_SECRET = /^TEMPORAL_(TLS_CLIENT_KEY_DATA|CODEC_AUTH|GRPC_META_.*)$|^OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS$/;

/**
 * Takes the secrets out of the environment, after all that reads them has read them: Node's diagnostic reports print the
 * environment of the process, when it crashes too, and a child process inherits it.
 */
export function scrubSecrets(env: Record<string, string | undefined> = process.env): void {
  const ours: readonly string[] = SECRET_NAMES;
  for (const name of Object.keys(env)) if (ours.includes(name) || OTHER_SECRET.test(name)) delete env[name];
}

type WorkerValues = z.output<typeof workerVariables>;

function starterConfig(values: z.output<typeof starterVariables>, { terminal = false }: LogOptions) {
  return {
    taskQueue: values.TEMPORAL_TASK_QUEUE,
    /** Undefined: the file of TEMPORAL_CONFIG_FILE may hold one. */
    temporalApiKey: values.TEMPORAL_API_KEY,
    /** Where traces go; undefined: nothing is traced. */
    tracingEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT ?? (terminal ? ('pretty' as const) : ('json' as const)),
  };
}

function partnerConfig(values: z.output<typeof partnerVariables>) {
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
  };
}

function scheduleConfig(values: z.output<typeof scheduleVariables>) {
  return {
    cron: values.RECONCILE_CRON,
    timezone: values.RECONCILE_TIMEZONE,
    lookbackMs: values.RECONCILE_LOOKBACK,
  };
}

function purchaseSettings(values: WorkerValues) {
  return {
    placeWithinMs: values.PURCHASE_PLACE_WITHIN,
    firstPollMs: values.PURCHASE_FIRST_POLL,
    pollIntervalMs: values.PURCHASE_POLL_INTERVAL,
    watch: values.PURCHASE_WATCH,
    deadlineMs: values.PURCHASE_DEADLINE,
    confirmWindowMs: values.PURCHASE_CONFIRM_WINDOW,
    replace: values.PURCHASE_REPLACE,
    partnerTimeoutMs: values.PARTNER_TIMEOUT,
    deliveryTimeoutMs: values.DELIVERY_TIMEOUT,
  };
}

function deliveryConfig(values: z.output<typeof deliveryVariables>) {
  const { DELIVERY_URL: url, DELIVERY_SECRET: secrets, DELIVERY_DIR: dir, DELIVERY_TIMEOUT: timeoutMs } = values;
  if (url !== undefined && secrets !== undefined) return { kind: 'webhook' as const, url, secrets, timeoutMs };
  if (dir !== undefined) return { kind: 'folder' as const, dir };
  throw new Error('the checks let a configuration pass that has no destination');
}
