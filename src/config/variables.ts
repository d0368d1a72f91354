import { z } from 'zod';
import { lowestRequestRate } from '../workflows/policies';
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
 * Every variable of this project: its bounds, its default as one would write it, and what it means, in the order in which
 * docs/reference/configuration.md and .env.example show them. Temporal's own variables are read by Temporal's convention.
 */

const pause = duration('1ms', '24h');
const limit = duration('1ms', '720h');
const timeout = duration('1ms', '10m');

const plaintext = {
  ALLOW_PLAINTEXT: oneOf('false', 'true')
    .transform((written) => written === 'true')
    .prefault('false')
    .describe(
      'allows `http:` beyond loopback in `PARTNER_BASE_URL` and `DELIVERY_URL`, and a Temporal API key without TLS; otherwise each of them ends with 78',
    ),
};

/** Whatever connects to Temporal. */
const temporal = {
  TEMPORAL_TASK_QUEUE: taskQueue.prefault('fulfilment').describe('task queue'),
  TEMPORAL_API_KEY: apiKey
    .optional()
    .describe(
      "the key of Temporal Cloud, or of a server that asks for one; Temporal's own variable, which here can be read from a file too. Turns TLS on",
    ),
  ...plaintext,
  TEMPORAL_UI_URL: url('http://localhost:8233')
    .optional()
    .describe('base of links to the Temporal UI in reports and messages. No links if not set'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http://localhost:4318')
    .optional()
    .describe(
      "turns tracing on: the base URL of a collector that speaks OTLP over HTTP; OpenTelemetry's own `OTEL_…` variables say the rest",
    ),
};

const partner = {
  ...plaintext,
  PARTNER_BASE_URL: url('https://partner.example').describe("the partner's base URL"),
  PARTNER_API_KEY: apiKey.describe('sent as `x-api-key` and nowhere else'),
  PARTNER_LIST_PREFIX: pathPrefix.prefault('/v1/partners').describe('before `/products` and `/orders`'),
  PARTNER_ORDER_PREFIX: pathPrefix.prefault('').describe('before `/place-order` and `/orders/{id}/keys`'),
  PARTNER_HISTORY_SEARCH_PARAM: queryParameter.prefault('query').describe('order history: the parameter that searches'),
  PARTNER_HISTORY_PAGE_PARAM: queryParameter
    .prefault('page')
    .describe('order history: the parameter with the page number'),
  PARTNER_HISTORY_LIMIT_PARAM: queryParameter
    .prefault('limit')
    .describe('order history: the parameter with the page size'),
  PARTNER_TIMEOUT: timeout.prefault('15s').describe('one request, headers and body'),
  PARTNER_MAX_RPS: requestsPerSecond
    .optional()
    .describe(
      'ceiling of requests to the partner in a second, per process: divide it by the number of workers. Four requests must fit into an attempt to place an order, so it is at least 0.27 with the default `PARTNER_TIMEOUT`. No ceiling if not set',
    ),
  PARTNER_MAX_BODY: size(1, 256)
    .prefault('32MiB')
    .describe('the largest answer that is read, such as `64MiB`; an order beyond it is held as `ORDER_TOO_LARGE`'),
};

const purchase = {
  PURCHASE_PLACE_WITHIN: limit
    .prefault('1h')
    .describe(
      "how long a placement that was proven not sent, or refused for our own fault, is tried again; and an order history that can't be read is searched, before an operator is asked",
    ),
  PURCHASE_FIRST_POLL: duration('0', '24h')
    .prefault('5s')
    .describe('from placement to the first poll of the keys; `0` polls at once'),
  PURCHASE_POLL_INTERVAL: pause.prefault('30s').describe('between polls; never closer'),
  PURCHASE_WATCH: oneOf('orders', 'history')
    .prefault('orders')
    .describe(
      '`orders`: every open order is polled; `history`: the order history is read once per interval for all of them, and an order is polled only if its row is no longer PENDING or PROCESSING or is missing, and at every twentieth interval',
    ),
  PURCHASE_DEADLINE: limit.prefault('25m').describe('from placement until an order that is still open is overdue'),
  PURCHASE_CONFIRM_WINDOW: pause
    .prefault('60s')
    .describe(
      'after a placement of unknown outcome: how long the order history must show no order before it counts as absent',
    ),
  PURCHASE_REPLACE: oneOf('never', 'answered', 'always')
    .prefault('answered')
    .describe(
      'an absent order is placed again: `never`, `answered` (only if the partner answered with an error), or `always`; otherwise it is held. "Not sent" is always tried again. A placement whose worker died before it recorded its intention is placed again unless `never`',
    ),
};

const delivery = {
  ...plaintext,
  DELIVERY_URL: url('https://shop.example/fulfilment')
    .optional()
    .describe('where outcomes and keys are posted; either this or `DELIVERY_DIR`'),
  DELIVERY_SECRET: webhookSecrets
    .optional()
    .describe(
      'the `whsec_…` secret that signs what is posted; several, newest first, separated by spaces, while one is rotated',
    ),
  DELIVERY_TIMEOUT: timeout.prefault('15s').describe('one attempt'),
  DELIVERY_DIR: line('the path of a folder', 'deliveries')
    .optional()
    .describe(
      "instead of a URL: a folder that gets one file (mode 0600) for each event; one that can't be written: exit code 78",
    ),
};

const reconciliation = {
  RECONCILE_CRON: cron
    .prefault('0 3 * * *')
    .describe('when the nightly reconciliation runs: what `schedule create` sets'),
  RECONCILE_TIMEZONE: timeZone
    .prefault('UTC')
    .describe('the time zone of `RECONCILE_CRON`, and of the days and hours in the report'),
  RECONCILE_LOOKBACK: duration('1m', '8760h')
    .prefault('72h')
    .describe("how far back each reconciliation looks; refused when longer than the namespace's retention less a day"),
};

const worker = {
  FINGERPRINT_SECRET: fingerprintSecrets.describe(
    'keys the fingerprints of delivered keys (HMAC); 32 bytes or more; several, newest first, separated by spaces',
  ),
  REPORT_DIR: line('the path of a folder', 'reports')
    .prefault('reports')
    .describe("where the worker that reconciles writes its report; a folder that can't be written: exit code 78"),
  WORKER_DEPLOYMENT_VERSION: deploymentVersion
    .optional()
    .describe(
      'turns worker versioning on: `DEPLOYMENT.BUILD`, another build id for each build; a purchase then stays with the version that it began on: docs/deploying.md',
    ),
  HEALTH_ADDRESS: listenAddress
    .prefault('127.0.0.1:8081')
    .describe('`/healthz` (alive) and `/readyz` (connected and polling)'),
  METRICS_ADDRESS: listenIpAddress.prefault('127.0.0.1:9464').describe('Prometheus'),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error').prefault('info').describe('how much is logged'),
  LOG_FORMAT: oneOf('json', 'pretty')
    .optional()
    .describe('`json`, or `pretty`, which is for people; `json` if not set, and `pretty` on a terminal'),
};

export const SECTIONS = { temporal, partner, purchase, delivery, reconciliation, worker };
export const variables = { ...temporal, ...partner, ...purchase, ...delivery, ...reconciliation, ...worker };

export type VariableName = keyof typeof variables;

export const VARIABLE_NAMES = Object.keys(variables) as VariableName[];
export const SECRET_NAMES = VARIABLE_NAMES.filter((name) => describeVariable(name).secret);

/** What people read about a variable: in messages, in docs/reference/configuration.md and in .env.example. */
export function describeVariable(name: VariableName) {
  const schema = variables[name];
  const { description, expected, example, hidden, secret, default: usual } = z.toJSONSchema(schema, { io: 'input' });
  return {
    /** w: the worker, s: the starter. */
    readBy: name in purchase || name in worker ? 'w' : name in reconciliation ? 's' : 'w s',
    /** Markdown. */
    meaning: String(description),
    /** Ends the sentence "expected …". */
    expected: String(expected),
    example: String(usual || example),
    /** As one would write it. */
    default: usual as string | undefined,
    required: !schema.safeParse(undefined).success,
    /** Never shown. */
    hidden: hidden === true,
    /** Also read from the file that NAME_FILE names. */
    secret: secret === true,
  };
}

type Texts = Readonly<Partial<Record<VariableName, string>>>;

/** What is said of a variable that is right by itself, in place of what is otherwise said of it. */
interface Conflict {
  variable: VariableName;
  expected: string;
  got?: string;
  remedy: string;
}

const OWN_PARAM = { expected: 'a name that the other two parameters do not have', remedy: 'Give each its own.' };
const TLS_WANTED = {
  expected: 'an https:// URL, because keys travel there',
  got: 'http:// to another machine (not shown)',
  remedy: 'Use https://, or set ALLOW_PLAINTEXT=true if all who share the network between may read and change them.',
};
const DESTINATION = { variable: 'DELIVERY_URL', expected: 'either DELIVERY_URL or DELIVERY_DIR' } as const;

/** The URLs that lead to another machine, where keys travel, and do so without TLS. */
export function plaintextUrls(read: Texts): VariableName[] {
  return (['PARTNER_BASE_URL', 'DELIVERY_URL'] as const).filter((name) => isPlaintext(read[name]));
}

function isPlaintext(written = ''): boolean {
  if (!URL.canParse(written)) return false;
  const { protocol, hostname } = new URL(written);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * What is wrong between variables that are each right.
 *
 * @param read what was written, or the default, of each variable that is read.
 */
export function conflictsIn(read: Texts): Conflict[] {
  const search = read.PARTNER_HISTORY_SEARCH_PARAM;
  const page = read.PARTNER_HISTORY_PAGE_PARAM;
  const limit = read.PARTNER_HISTORY_LIMIT_PARAM;
  const { data: partnerTimeoutMs = 0 } = variables.PARTNER_TIMEOUT.safeParse(read.PARTNER_TIMEOUT);
  const lowestRate = lowestRequestRate({ partnerTimeoutMs });
  const { METRICS_ADDRESS: address, DELIVERY_URL: url, DELIVERY_DIR: dir } = read;
  const refused = read.ALLOW_PLAINTEXT === 'true' ? [] : plaintextUrls(read);
  const conflicts: (Conflict | false)[] = [
    ...refused.map((variable) => ({ variable, ...TLS_WANTED })),
    page === search && { variable: 'PARTNER_HISTORY_PAGE_PARAM', ...OWN_PARAM },
    (limit === search || limit === page) && { variable: 'PARTNER_HISTORY_LIMIT_PARAM', ...OWN_PARAM },
    Number(read.PARTNER_MAX_RPS) < lowestRate && {
      variable: 'PARTNER_MAX_RPS',
      expected: "a rate under which a placement's search and write fit into one attempt",
      remedy: `Set PARTNER_MAX_RPS=${lowestRate}, or raise PARTNER_TIMEOUT.`,
    },
    address === read.HEALTH_ADDRESS &&
      !address?.endsWith(':0') && {
        variable: 'METRICS_ADDRESS',
        expected: 'another address than HEALTH_ADDRESS',
        remedy: 'Choose another port.',
      },
    url !== undefined && dir !== undefined && { ...DESTINATION, got: 'both', remedy: 'Remove one of them.' },
    url === undefined &&
      dir === undefined && { ...DESTINATION, got: 'neither', remedy: 'Set the one that says where keys are to go.' },
    url !== undefined &&
      read.DELIVERY_SECRET === undefined && {
        variable: 'DELIVERY_SECRET',
        expected: 'a secret, because DELIVERY_URL is set and what is posted there is signed',
        got: 'nothing',
        remedy: `Set DELIVERY_SECRET to ${describeVariable('DELIVERY_SECRET').example}, here and at the receiver.`,
      },
  ];
  return conflicts.filter((conflict) => conflict !== false);
}
