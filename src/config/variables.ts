import {
  apiKey,
  cron,
  duration,
  fingerprintSecrets,
  listenAddress,
  listenIpAddress,
  oneOf,
  prefix,
  rate,
  text,
  timeZone,
  url,
  webhookSecrets,
} from './forms';
import { optional, optionalSecret, required, requiredSecret, type Variable, withDefault } from './variable';

const WORKER = 'w';
const STARTER = 's';
const BOTH = 'w s';

const pause = duration({ min: '1ms', max: '24h' });
const patience = duration({ min: '1ms', max: '720h' });
const parameter = text('the name of a query parameter', 'query', /^[A-Za-z0-9._~[\]-]{1,100}$/);

/**
 * Every variable of this project, in the order in which the documentation shows them. Temporal's own are read by
 * Temporal's convention.
 */
export const VARIABLES = {
  TEMPORAL_TASK_QUEUE: withDefault(text('the name of a task queue', 'fulfilment'), 'fulfilment', BOTH, 'task queue'),
  PARTNER_BASE_URL: required(url('https://partner.example'), BOTH, "the partner's base URL"),
  PARTNER_API_KEY: requiredSecret(apiKey, BOTH, 'sent as `x-api-key` and nowhere else'),
  PARTNER_LIST_PREFIX: withDefault(prefix, '/v1/partners', BOTH, 'before `/products` and `/orders`'),
  PARTNER_ORDER_PREFIX: withDefault(prefix, '', BOTH, 'before `/place-order` and `/orders/{id}/keys`'),
  PARTNER_HISTORY_SEARCH_PARAM: withDefault(parameter, 'query', BOTH, 'order history: the parameter that searches'),
  PARTNER_HISTORY_PAGE_PARAM: withDefault(parameter, 'page', BOTH, 'order history: the parameter with the page number'),
  PARTNER_HISTORY_LIMIT_PARAM: withDefault(parameter, 'limit', BOTH, 'order history: the parameter with the page size'),
  PARTNER_TIMEOUT: withDefault(
    duration({ min: '1ms', max: '10m' }),
    '15s',
    BOTH,
    'one request, headers and body; three of them fit into the time of one placement',
  ),
  PARTNER_MAX_RPS: optional(
    rate,
    BOTH,
    'ceiling of requests to the partner in a second, each process for itself: divide by the workers; no ceiling if not set',
  ),
  PURCHASE_PLACE_WITHIN: withDefault(
    patience,
    '1h',
    WORKER,
    'how long a placement that was proven not sent, or refused for our own fault, is tried again',
  ),
  PURCHASE_FIRST_POLL: withDefault(pause, '5s', WORKER, 'from placement to the first look at the keys'),
  PURCHASE_POLL_INTERVAL: withDefault(pause, '30s', WORKER, 'between looks; never closer'),
  PURCHASE_DEADLINE: withDefault(
    patience,
    '25m',
    WORKER,
    'from placement until an order that is still open is overdue',
  ),
  PURCHASE_SETTLE: withDefault(
    pause,
    '60s',
    WORKER,
    'after a placement of unknown outcome: how long the order history is watched before it counts as absent',
  ),
  PURCHASE_REPLACE: withDefault(
    oneOf('never', 'answered', 'always'),
    'answered',
    WORKER,
    'an absent order is placed again: `never`, only if the partner had `answered` with an error, or `always`; else it is held',
  ),
  FINGERPRINT_SECRET: requiredSecret(
    fingerprintSecrets,
    WORKER,
    'keys the fingerprints of delivered keys (HMAC); 32 bytes or more; several, newest first, separated by blanks',
  ),
  DELIVERY_URL: optional(
    url('https://shop.example/fulfilment'),
    WORKER,
    'where outcomes and keys are posted; either this or `DELIVERY_DIR`',
  ),
  DELIVERY_SECRET: optionalSecret(
    webhookSecrets,
    WORKER,
    'the `whsec_…` secret that signs what is posted; several, newest first, separated by blanks, while one is rotated',
  ),
  DELIVERY_TIMEOUT: withDefault(duration({ min: '1ms', max: '10m' }), '15s', WORKER, 'one attempt'),
  DELIVERY_DIR: optional(
    text('the path of a folder', 'deliveries'),
    WORKER,
    'instead of a URL: a folder that gets one file (mode 0600) for each event',
  ),
  RECONCILE_CRON: withDefault(
    cron,
    '0 3 * * *',
    STARTER,
    'when the nightly reconciliation runs: what `schedule create` sets',
  ),
  RECONCILE_TIMEZONE: withDefault(
    timeZone,
    'UTC',
    STARTER,
    'the time zone of `RECONCILE_CRON`, and of the days and hours in the report',
  ),
  RECONCILE_LOOKBACK: withDefault(
    duration({ min: '1m', max: '8760h' }),
    '72h',
    STARTER,
    "how far back each reconciliation looks; refused when longer than the namespace's retention less a day",
  ),
  REPORT_DIR: withDefault(
    text('the path of a folder', 'reports'),
    'reports',
    WORKER,
    'where the worker that reconciles writes its report',
  ),
  HEALTH_ADDRESS: withDefault(
    listenAddress,
    '127.0.0.1:8081',
    WORKER,
    '`/healthz` (alive) and `/readyz` (connected and polling)',
  ),
  METRICS_ADDRESS: withDefault(listenIpAddress, '127.0.0.1:9464', WORKER, 'Prometheus'),
  LOG_LEVEL: withDefault(oneOf('trace', 'debug', 'info', 'warn', 'error'), 'info', BOTH, 'how much is logged'),
  LOG_FORMAT: optional(
    oneOf('json', 'pretty'),
    BOTH,
    '`json`, or `pretty`, which is for people; `json` if not set, and `pretty` on a terminal',
  ),
};

export type Name = keyof typeof VARIABLES;

/** What each variable is read as. */
export type Values = { [N in Name]: ReturnType<(typeof VARIABLES)[N]['read']> };

export const NAMES = Object.keys(VARIABLES) as Name[];

/** What is told of a variable to people, whatever its type. */
export function descriptionOf(name: Name): Omit<Variable<unknown>, 'read'> {
  return VARIABLES[name];
}
