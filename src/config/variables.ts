import { z } from 'zod';
import { minRequestRate } from '../workflows/policies';
import {
  apiKey,
  cron,
  deploymentVersion,
  duration,
  fingerprintSecrets,
  line,
  listenAddress,
  listenIpAddress,
  oneOf,
  pathPrefix,
  queryParameter,
  requestsPerSecond,
  size,
  taskQueue,
  timeZone,
  url,
  webhookSecrets,
} from './value-parsers';

/*
 * Every variable of this project with its bounds, its default and its meaning, in the order of
 * docs/reference/configuration.md and .env.example. Temporal's own variables follow Temporal's convention.
 */

const delay = duration('1ms', '24h');
const limit = duration('1ms', '720h');
const timeout = duration('1ms', '10m');

const plaintext = {
  ALLOW_PLAINTEXT: oneOf('false', 'true')
    .transform((written) => written === 'true')
    .prefault('false')
    .describe(
      'allows `http:` beyond loopback in `PARTNER_BASE_URL` and `DELIVERY_URL`, and a Temporal API key without TLS; otherwise, both are rejected with exit code 78',
    ),
};

/** Read by everything that connects to Temporal. */
const temporal = {
  TEMPORAL_TASK_QUEUE: taskQueue.prefault('fulfilment').describe('task queue'),
  TEMPORAL_API_KEY: apiKey
    .optional()
    .describe(
      "the API key of Temporal Cloud, or of another server that requires one. Temporal's own variable; here it can also be read from a file. It turns TLS on",
    ),
  ...plaintext,
  TEMPORAL_UI_URL: url('http://localhost:8233')
    .optional()
    .describe('base URL of links to the Temporal UI in reports and messages. No links if not set'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http://localhost:4318')
    .optional()
    .describe(
      "turns tracing on: the base URL of a collector that speaks OTLP over HTTP; OpenTelemetry's own `OTEL_…` variables configure the rest",
    ),
};

const partner = {
  ...plaintext,
  PARTNER_BASE_URL: url('https://partner.example').describe("the partner's base URL"),
  PARTNER_API_KEY: apiKey.describe("the partner's API key, sent only as `x-api-key`"),
  PARTNER_LIST_PREFIX: pathPrefix
    .prefault('/v1/partners')
    .describe('prefix of `/products` and `/orders`; starts with `/` and does not end with one'),
  PARTNER_ORDER_PREFIX: pathPrefix.prefault('').describe('prefix of `/place-order` and `/orders/{id}/keys`'),
  PARTNER_HISTORY_SEARCH_PARAM: queryParameter.prefault('query').describe('order history: the search parameter'),
  PARTNER_HISTORY_PAGE_PARAM: queryParameter.prefault('page').describe('order history: the page number parameter'),
  PARTNER_HISTORY_LIMIT_PARAM: queryParameter.prefault('limit').describe('order history: the page size parameter'),
  PARTNER_TIMEOUT: timeout.prefault('15s').describe('timeout of one request, including its response body'),
  PARTNER_MAX_RPS: requestsPerSecond
    .optional()
    .describe(
      'the maximum number of requests to the partner per second, for each process: divide the allowed rate by the number of workers. One attempt to place an order needs four requests, so the minimum is 0.27 with the default `PARTNER_TIMEOUT`. No limit if not set',
    ),
  PARTNER_MAX_BODY: size(1, 256)
    .prefault('32MiB')
    .describe('the largest response that is read, such as `64MiB`; a larger order is held as `ORDER_TOO_LARGE`'),
};

const purchase = {
  PURCHASE_PLACE_WITHIN: limit
    .prefault('1h')
    .describe(
      'how long placing is retried if nothing was sent, your API key or path was rejected, or no order appears after an error response',
    ),
  PURCHASE_FIRST_POLL: duration('0', '24h')
    .prefault('5s')
    .describe(
      'time from the placement to the first poll of the keys; with `0`, two purchases that get the same order id at the same moment may both deliver it',
    ),
  PURCHASE_POLL_INTERVAL: delay.prefault('30s').describe('the minimum time between two polls of an order'),
  PURCHASE_WATCH: oneOf('orders', 'history')
    .prefault('orders')
    .describe(
      '`orders` polls every open order. `history` reads the order history once per interval for all of them, and polls an order only if its row is missing or no longer PENDING or PROCESSING, and in every twentieth interval',
    ),
  PURCHASE_DEADLINE: limit.prefault('25m').describe('time from the placement until an open order is overdue'),
  PURCHASE_CONFIRM_WINDOW: delay
    .prefault('60s')
    .describe(
      'how long the order history must show no order, after a placement with an unknown outcome, before the order counts as absent',
    ),
  PURCHASE_REPLACE: oneOf('never', 'answered', 'always')
    .prefault('answered')
    .describe(
      'whether an absent order is placed again: `never`, `answered` (only after an error response) or `always`; otherwise the purchase is held',
    ),
};

const delivery = {
  ...plaintext,
  DELIVERY_URL: url('https://shop.example/fulfilment')
    .optional()
    .describe('where outcomes and keys are posted; set either `DELIVERY_URL` or `DELIVERY_DIR`'),
  DELIVERY_SECRET: webhookSecrets
    .optional()
    .describe(
      'the `whsec_…` secret that signs each event; during a rotation, several secrets, newest first, separated by spaces',
    ),
  DELIVERY_TIMEOUT: timeout.prefault('15s').describe('timeout of one delivery attempt'),
  DELIVERY_DIR: line('the path of a folder', 'deliveries')
    .optional()
    .describe(
      'instead of a URL, a folder that gets one file (mode 0600) for each event; if it is not writable, the exit code is 78',
    ),
};

const reconciliation = {
  RECONCILE_CRON: cron
    .prefault('0 3 * * *')
    .describe('when the nightly reconciliation runs; `schedule create` applies it'),
  RECONCILE_TIMEZONE: timeZone
    .prefault('UTC')
    .describe('the time zone of `RECONCILE_CRON`, and of the days and hours in the report'),
  RECONCILE_LOOKBACK: duration('1m', '8760h')
    .prefault('72h')
    .describe(
      "how far back each reconciliation looks; after missed nights, a scheduled one looks back further. Rejected if it is longer than the namespace's retention minus one day",
    ),
};

const worker = {
  FINGERPRINT_SECRET: fingerprintSecrets.describe(
    'the HMAC secret behind the ids of delivered keys; 32 bytes or more; during a rotation, several secrets, newest first, separated by spaces',
  ),
  REPORT_DIR: line('the path of a folder', 'reports')
    .prefault('reports')
    .describe('the folder for the reports of reconciliations; if it is not writable, the exit code is 78'),
  WORKER_DEPLOYMENT_VERSION: deploymentVersion
    .optional()
    .describe(
      'turns worker versioning on: `DEPLOYMENT.BUILD`, with a new build id for each build. A purchase then stays on the version that it started on: docs/deploying.md',
    ),
  HEALTH_ADDRESS: listenAddress
    .prefault('127.0.0.1:8081')
    .describe('the address of `/healthz` (alive) and `/readyz` (connected and polling)'),
  METRICS_ADDRESS: listenIpAddress.prefault('127.0.0.1:9464').describe('the address of the Prometheus metrics'),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error').prefault('info').describe('the lowest level to log'),
  LOG_FORMAT: oneOf('json', 'pretty')
    .optional()
    .describe('`json`, or the human-readable `pretty`; if not set, `pretty` on a terminal and `json` elsewhere'),
};

export const SECTIONS = { temporal, partner, purchase, delivery, reconciliation, worker };
export const variables = { ...temporal, ...partner, ...purchase, ...delivery, ...reconciliation, ...worker };

export type VariableName = keyof typeof variables;

export const VARIABLE_NAMES = Object.keys(variables) as VariableName[];
export const SECRET_NAMES = VARIABLE_NAMES.filter((name) => describeVariable(name).secret);

/** Describes a variable for messages, docs/reference/configuration.md and .env.example. */
export function describeVariable(name: VariableName) {
  const schema = variables[name];
  const json = z.toJSONSchema(schema, { io: 'input' });
  const { description, expected, example, hidden, secret, command, default: defaultValue } = json;
  return {
    readBy: name in purchase || name in worker ? 'worker' : name in reconciliation ? 'CLI' : 'worker, CLI',
    /** Markdown. */
    meaning: String(description),
    /** Ends the sentence "expected …". */
    expected: String(expected),
    example: String(defaultValue || example),
    /** As written in the environment. */
    default: defaultValue as string | undefined,
    required: !schema.safeParse(undefined).success,
    /** Never shown. */
    hidden: hidden === true,
    /** Also read from the file that NAME_FILE names. */
    secret: secret === true,
    /** A command that prints a new value. */
    command: command as string | undefined,
  };
}

type Texts = Readonly<Partial<Record<VariableName, string>>>;

/** An issue with a variable that is valid on its own. */
interface Conflict {
  variable: VariableName;
  expected: string;
  got?: string;
  remedy: string;
}

const PARAMETER_NAME_TAKEN = {
  expected: 'a name that differs from the other two parameters',
  remedy: 'Give each parameter its own name.',
};
const TLS_REQUIRED = {
  expected: 'an https:// URL, because keys are sent over it',
  got: 'http:// to another machine (not shown)',
  remedy:
    'Use https://, or set ALLOW_PLAINTEXT=true to accept that anyone on the network path can read and change them.',
};
const DESTINATION = { variable: 'DELIVERY_URL', expected: 'either DELIVERY_URL or DELIVERY_DIR' } as const;

/** The variables with the URL of another machine without TLS. Keys are sent over these URLs. */
export function plaintextUrls(read: Texts): VariableName[] {
  return (['PARTNER_BASE_URL', 'DELIVERY_URL'] as const).filter((name) => isPlaintext(read[name]));
}

function isPlaintext(written = ''): boolean {
  if (!URL.canParse(written)) return false;
  const { protocol, hostname } = new URL(written);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Finds conflicts between variables that are each valid on their own.
 *
 * @param read the text or the default of each variable that is read.
 */
export function conflictsIn(read: Texts): Conflict[] {
  const search = read.PARTNER_HISTORY_SEARCH_PARAM;
  const page = read.PARTNER_HISTORY_PAGE_PARAM;
  const pageSize = read.PARTNER_HISTORY_LIMIT_PARAM;
  const { data: partnerTimeoutMs = 0 } = variables.PARTNER_TIMEOUT.safeParse(read.PARTNER_TIMEOUT);
  const lowestRate = minRequestRate({ partnerTimeoutMs });
  const { METRICS_ADDRESS: address, DELIVERY_URL: deliveryUrl, DELIVERY_DIR: dir } = read;
  const rejected = read.ALLOW_PLAINTEXT === 'true' ? [] : plaintextUrls(read);
  const conflicts: (Conflict | false)[] = [
    ...rejected.map((variable) => ({ variable, ...TLS_REQUIRED })),
    page === search && { variable: 'PARTNER_HISTORY_PAGE_PARAM', ...PARAMETER_NAME_TAKEN },
    (pageSize === search || pageSize === page) && { variable: 'PARTNER_HISTORY_LIMIT_PARAM', ...PARAMETER_NAME_TAKEN },
    Number(read.PARTNER_MAX_RPS) < lowestRate && {
      variable: 'PARTNER_MAX_RPS',
      expected: "a rate at which a placement's search and write fit into one attempt",
      remedy: `Set PARTNER_MAX_RPS=${lowestRate}, or raise PARTNER_TIMEOUT.`,
    },
    address === read.HEALTH_ADDRESS &&
      !address?.endsWith(':0') && {
        variable: 'METRICS_ADDRESS',
        expected: 'an address that differs from HEALTH_ADDRESS',
        remedy: 'Choose another port.',
      },
    deliveryUrl !== undefined && dir !== undefined && { ...DESTINATION, got: 'both', remedy: 'Remove one of them.' },
    deliveryUrl === undefined &&
      dir === undefined && {
        ...DESTINATION,
        got: 'neither',
        remedy: 'Set one of them, so that keys have a destination.',
      },
    deliveryUrl !== undefined &&
      read.DELIVERY_SECRET === undefined && {
        variable: 'DELIVERY_SECRET',
        expected: 'a secret that signs the events to DELIVERY_URL',
        got: 'nothing',
        remedy: `Run \`${describeVariable('DELIVERY_SECRET').command}\` to make one. Set it here and at the receiver.`,
      },
  ];
  return conflicts.filter((conflict) => conflict !== false);
}
