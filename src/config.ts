import { conflicts, faultsOfHistoryParams, faultsOfUnknownNames } from './config/checks';
import { ConfigError, type Fault } from './config/error';
import type { HostAndPort } from './config/forms';
import type { Secret } from './config/secret';
import { type Environment, type Source, VariableFault } from './config/variable';
import { descriptionOf, type Name, NAMES, type Values, VARIABLES } from './config/variables';
import type { PurchaseSettings } from './contracts/purchase';

export { ConfigError } from './config/error';
export type { Secret } from './config/secret';

/** How the partner is reached: the options of the partner client. */
export interface PartnerConfig {
  baseUrl: string;
  /** Follows the file that the key is read from. */
  apiKey: () => string;
  listPrefix: string;
  orderPrefix: string;
  historyParams: { search: string; page: string; limit: string };
  timeoutMs: number;
  maxRequestsPerSecond?: number;
}

/** Where events go. */
export type DeliveryConfig =
  | {
      kind: 'webhook';
      url: string;
      /** Newest first; follows the file that they are read from. */
      secrets: () => readonly string[];
      timeoutMs: number;
    }
  | { kind: 'folder'; dir: string };

export interface StarterConfig {
  taskQueue: string;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'json' | 'pretty';
}

/** What the nightly schedule is made of. */
export interface ScheduleConfig {
  cron: string;
  timezone: string;
  lookbackMs: number;
}

export interface WorkerConfig extends StarterConfig {
  partner: PartnerConfig;
  purchase: PurchaseSettings;
  delivery: DeliveryConfig;
  /** Newest first. */
  fingerprintSecret: Secret<readonly string[]>;
  /** Where reconciliations write their reports. */
  reportDir: string;
  healthAddress: HostAndPort;
  metricsAddress: HostAndPort;
}

export interface ReadOptions {
  /** Whether the output goes to a terminal: logs are then `pretty` unless LOG_FORMAT says otherwise. Default: no. */
  terminal?: boolean;
  /** Told when a secret's file can't be used any more. Default: a line on stderr. */
  onProblem?: (problem: string) => void;
  /** A clock in ms, for the files of secrets. */
  now?: () => number;
}

/**
 * The whole configuration of a worker.
 *
 * @throws ConfigError that names every wrong variable, also one that looks like ours and is not.
 */
export function readWorkerConfig(env: Environment = process.env, options: ReadOptions = {}): WorkerConfig {
  const values = readValues(WORKER_NAMES, env, options, (read) => [
    ...faultsOfHistoryParams(read, env),
    ...conflicts(read, env),
    ...faultsOfUnknownNames(env, ['PARTNER_', 'PURCHASE_', 'DELIVERY_', 'RECONCILE_']),
  ]);
  return {
    ...starterConfigOf(values, options),
    partner: partnerConfigOf(values),
    purchase: purchaseSettingsOf(values),
    delivery: deliveryConfigOf(values),
    fingerprintSecret: values.FINGERPRINT_SECRET,
    reportDir: values.REPORT_DIR,
    healthAddress: values.HEALTH_ADDRESS,
    metricsAddress: values.METRICS_ADDRESS,
  };
}

/**
 * What every command of the starter needs besides Temporal's own variables. Unknown names are no fault here: a checkout's
 * environment is its own.
 *
 * @throws ConfigError
 */
export function readStarterConfig(env: Environment = process.env, options: ReadOptions = {}): StarterConfig {
  return starterConfigOf(readValues(STARTER_NAMES, env, options), options);
}

/**
 * What the commands that ask the partner need.
 *
 * @throws ConfigError
 */
export function readPartnerConfig(env: Environment = process.env, options: ReadOptions = {}): PartnerConfig {
  const values = readValues(PARTNER_NAMES, env, options, (read) => [
    ...faultsOfHistoryParams(read, env),
    ...faultsOfUnknownNames(env, ['PARTNER_']),
  ]);
  return partnerConfigOf(values);
}

/**
 * What the commands of the reconciliation need.
 *
 * @throws ConfigError
 */
export function readScheduleConfig(env: Environment = process.env, options: ReadOptions = {}): ScheduleConfig {
  const values = readValues(SCHEDULE_NAMES, env, options, () => faultsOfUnknownNames(env, ['RECONCILE_']));
  return {
    cron: values.RECONCILE_CRON,
    timezone: values.RECONCILE_TIMEZONE,
    lookbackMs: values.RECONCILE_LOOKBACK,
  };
}

const WORKER_NAMES = NAMES.filter((name) => VARIABLES[name].readBy !== 's');
const SCHEDULE_NAMES = ['RECONCILE_CRON', 'RECONCILE_TIMEZONE', 'RECONCILE_LOOKBACK'] as const;
const STARTER_NAMES = ['TEMPORAL_TASK_QUEUE', 'LOG_LEVEL', 'LOG_FORMAT'] as const;
const PARTNER_NAMES = [
  'PARTNER_BASE_URL',
  'PARTNER_API_KEY',
  'PARTNER_LIST_PREFIX',
  'PARTNER_ORDER_PREFIX',
  'PARTNER_HISTORY_SEARCH_PARAM',
  'PARTNER_HISTORY_PAGE_PARAM',
  'PARTNER_HISTORY_LIMIT_PARAM',
  'PARTNER_TIMEOUT',
  'PARTNER_MAX_RPS',
] as const;

/** What Temporal's own convention puts into the environment and nobody may see. */
const TEMPORAL_SECRET = /^TEMPORAL_(API_KEY|TLS_CLIENT_KEY_DATA|CODEC_AUTH|GRPC_META_.*)$/;

/**
 * Takes the secrets out of the environment, after all that reads them has read them: Node's diagnostic reports print the
 * environment of the process, when it crashes too, and a child process inherits it.
 */
export function withdrawSecrets(env: Record<string, string | undefined> = process.env): void {
  const ours = NAMES.filter((name) => descriptionOf(name).secret) as string[];
  for (const name of Object.keys(env)) if (ours.includes(name) || TEMPORAL_SECRET.test(name)) delete env[name];
}

/** @throws ConfigError with the faults of each variable and those that `check` adds. */
function readValues<N extends Name>(
  names: readonly N[],
  env: Environment,
  { onProblem = warn, now = Date.now }: ReadOptions,
  check: (read: Partial<Values>) => Fault[] = () => [],
): Pick<Values, N> {
  const source: Source = { env, onProblem, now };
  const faults: Fault[] = [];
  const read = Object.fromEntries(
    names.map((name) => {
      try {
        return [name, VARIABLES[name].read(name, source)];
      } catch (error) {
        if (!(error instanceof VariableFault)) throw error;
        faults.push(error.fault);
        return [name, undefined];
      }
    }),
  ) as Pick<Values, N>;
  faults.push(...check(read));
  if (faults.length > 0) throw new ConfigError(faults);
  return read;
}

function warn(problem: string): void {
  process.stderr.write(`${problem}\n`);
}

function starterConfigOf(
  values: Pick<Values, (typeof STARTER_NAMES)[number]>,
  { terminal = false }: ReadOptions,
): StarterConfig {
  return {
    taskQueue: values.TEMPORAL_TASK_QUEUE,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

function partnerConfigOf(values: Pick<Values, (typeof PARTNER_NAMES)[number]>): PartnerConfig {
  const ceiling = values.PARTNER_MAX_RPS;
  return {
    baseUrl: values.PARTNER_BASE_URL,
    apiKey: () => values.PARTNER_API_KEY.current(),
    listPrefix: values.PARTNER_LIST_PREFIX,
    orderPrefix: values.PARTNER_ORDER_PREFIX,
    historyParams: {
      search: values.PARTNER_HISTORY_SEARCH_PARAM,
      page: values.PARTNER_HISTORY_PAGE_PARAM,
      limit: values.PARTNER_HISTORY_LIMIT_PARAM,
    },
    timeoutMs: values.PARTNER_TIMEOUT,
    ...(ceiling !== undefined && { maxRequestsPerSecond: ceiling }),
  };
}

function purchaseSettingsOf(values: Values): PurchaseSettings {
  return {
    placeWithinMs: values.PURCHASE_PLACE_WITHIN,
    firstPollMs: values.PURCHASE_FIRST_POLL,
    pollIntervalMs: values.PURCHASE_POLL_INTERVAL,
    deadlineMs: values.PURCHASE_DEADLINE,
    settleMs: values.PURCHASE_SETTLE,
    replace: values.PURCHASE_REPLACE,
    partnerTimeoutMs: values.PARTNER_TIMEOUT,
    deliveryTimeoutMs: values.DELIVERY_TIMEOUT,
  };
}

function deliveryConfigOf(values: Values): DeliveryConfig {
  const { DELIVERY_URL: url, DELIVERY_SECRET: secret, DELIVERY_DIR: dir, DELIVERY_TIMEOUT: timeoutMs } = values;
  if (url !== undefined && secret !== undefined)
    return { kind: 'webhook', url, secrets: () => secret.current(), timeoutMs };
  if (dir !== undefined) return { kind: 'folder', dir };
  throw new Error('the checks let a configuration pass that has no destination');
}
