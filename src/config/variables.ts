import { z } from 'zod';
import { lowestRequestRate } from '../workflows/policies';
import {
  apiKey,
  cron,
  deploymentVersion,
  duration,
  fingerprintSecrets,
  integer,
  line,
  listenAddress,
  listenIpAddress,
  oneOf,
  pathPrefix,
  queryParameter,
  requestsPerSecond,
  timeZone,
  url,
  webhookSecrets,
} from './value-parsers';

const pause = duration('1ms', '24h');
const limit = duration('1ms', '720h');
const timeout = duration('1ms', '10m');

/**
 * Every variable of this project: its bounds, its default as one would write it, and what it means, in the order in which
 * docs/configuration.md and .env.example show them. Temporal's own variables are read by Temporal's convention.
 */
export const variables = z.object({
  TEMPORAL_TASK_QUEUE: line('the name of a task queue', 'fulfilment').prefault('fulfilment').describe('task queue'),
  TEMPORAL_API_KEY: apiKey
    .optional()
    .describe(
      "the key of Temporal Cloud, or of a server that asks for one; Temporal's own variable, which here can be read from a file too. Turns TLS on",
    ),
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
      'ceiling of requests to the partner in a second, each process for itself: divide by the workers. Four requests must fit into an attempt to place an order, so at least 0.27 with the default `PARTNER_TIMEOUT`. No ceiling if not set',
    ),
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
      '`orders`: each open order is polled for itself; `history`: the order history is read once for all of them, and an order is polled when its row is no longer PENDING or PROCESSING, and every twentieth interval all the same',
    ),
  PURCHASE_DEADLINE: limit.prefault('25m').describe('from placement until an order that is still open is overdue'),
  PURCHASE_CONFIRM_WINDOW: pause
    .prefault('60s')
    .describe('after a placement of unknown outcome: how long the order history is watched before it counts as absent'),
  PURCHASE_REPLACE: oneOf('never', 'answered', 'always')
    .prefault('answered')
    .describe(
      'an absent order is placed again: `never`, only if the partner had `answered` with an error, or `always`; else it is held. An attempt that answered "not sent" is tried again under each; one whose worker died without having recorded that it would write, under each but `never`',
    ),
  FINGERPRINT_SECRET: fingerprintSecrets.describe(
    'keys the fingerprints of delivered keys (HMAC); 32 bytes or more; several, newest first, separated by spaces',
  ),
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
  RECONCILE_CRON: cron
    .prefault('0 3 * * *')
    .describe('when the nightly reconciliation runs: what `schedule create` sets'),
  RECONCILE_TIMEZONE: timeZone
    .prefault('UTC')
    .describe('the time zone of `RECONCILE_CRON`, and of the days and hours in the report'),
  RECONCILE_LOOKBACK: duration('1m', '8760h')
    .prefault('72h')
    .describe("how far back each reconciliation looks; refused when longer than the namespace's retention less a day"),
  REPORT_DIR: line('the path of a folder', 'reports')
    .prefault('reports')
    .describe("where the worker that reconciles writes its report; a folder that can't be written: exit code 78"),
  WORKER_DEPLOYMENT_VERSION: deploymentVersion
    .optional()
    .describe(
      'turns worker versioning on: `DEPLOYMENT.BUILD`, another build id for each build; a purchase then stays with the version that it began on: docs/deploying.md',
    ),
  WORKER_WORKFLOW_THREADS: integer(1, 64, '2')
    .optional()
    .describe('threads that run workflow code; if not set, half of the cores, from 1 to 4'),
  WORKER_CACHED_WORKFLOWS: integer(10, 1_000_000, '2000')
    .optional()
    .describe(
      'how many open purchases stay in memory; another is replayed from its history when it goes on. If not set, what fits into half of the memory, from 100 to 1,000',
    ),
  WORKER_WORKFLOW_TASKS: integer(2, 10_000, '40')
    .optional()
    .describe('workflow tasks at the same time; if not set, 40 for each thread'),
  WORKER_ACTIVITIES: integer(1, 100_000, '500')
    .optional()
    .describe('activities at the same time; if not set, one for each 4 MB of memory, from 100 to 500'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http://localhost:4318')
    .optional()
    .describe(
      "turns tracing on: the base URL of a collector that speaks OTLP over HTTP; OpenTelemetry's own `OTEL_…` variables say the rest",
    ),
  HEALTH_ADDRESS: listenAddress
    .prefault('127.0.0.1:8081')
    .describe('`/healthz` (alive) and `/readyz` (connected and polling)'),
  METRICS_ADDRESS: listenIpAddress.prefault('127.0.0.1:9464').describe('Prometheus'),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error').prefault('info').describe('how much is logged'),
  LOG_FORMAT: oneOf('json', 'pretty')
    .optional()
    .describe('`json`, or `pretty`, which is for people; `json` if not set, and `pretty` on a terminal'),
});

export type VariableName = keyof typeof variables.shape;

const whenever = { when: () => true };

/** What every command of the starter reads. */
export const starterVariables = variables.pick({
  TEMPORAL_TASK_QUEUE: true,
  TEMPORAL_API_KEY: true,
  OTEL_EXPORTER_OTLP_ENDPOINT: true,
  LOG_LEVEL: true,
  LOG_FORMAT: true,
});

/** What the starter's reconciliation commands read. */
export const scheduleVariables = variables.pick({
  RECONCILE_CRON: true,
  RECONCILE_TIMEZONE: true,
  RECONCILE_LOOKBACK: true,
});

/** What the starter's partner commands read. */
export const partnerVariables = variables
  .pick({
    PARTNER_BASE_URL: true,
    PARTNER_API_KEY: true,
    PARTNER_LIST_PREFIX: true,
    PARTNER_ORDER_PREFIX: true,
    PARTNER_HISTORY_SEARCH_PARAM: true,
    PARTNER_HISTORY_PAGE_PARAM: true,
    PARTNER_HISTORY_LIMIT_PARAM: true,
    PARTNER_TIMEOUT: true,
    PARTNER_MAX_RPS: true,
  })
  .superRefine(checkHistoryParams, whenever);

/** Where events go. Read by the worker, and by `doctor`. */
export const deliveryVariables = variables
  .pick({ DELIVERY_URL: true, DELIVERY_SECRET: true, DELIVERY_TIMEOUT: true, DELIVERY_DIR: true })
  .superRefine(checkDestination, whenever);

/** What the worker reads. */
export const workerVariables = variables
  .omit({ RECONCILE_CRON: true, RECONCILE_TIMEZONE: true, RECONCILE_LOOKBACK: true })
  .superRefine(checkHistoryParams, whenever)
  .superRefine(checkRequestRate, whenever)
  .superRefine(checkAddresses, whenever)
  .superRefine(checkDestination, whenever);

/*
 * What can be wrong with variables that are right each for itself. The checks run beside faults of single variables, so
 * that all are reported at once: a value that is wrong is then still the string that was given, or undefined.
 */

type Values = Partial<z.output<typeof variables>>;

/** Replaces what is otherwise said of a variable. */
export interface Conflict {
  expected: string;
  got?: string;
  remedy: string;
}

function report(context: z.RefinementCtx, variable: VariableName, conflict: Conflict): void {
  context.addIssue({ code: 'custom', path: [variable], params: { ...conflict } });
}

/** Two names that are the same would be one parameter. */
function checkHistoryParams(values: Values, context: z.RefinementCtx): void {
  const names = ['PARTNER_HISTORY_SEARCH_PARAM', 'PARTNER_HISTORY_PAGE_PARAM', 'PARTNER_HISTORY_LIMIT_PARAM'] as const;
  const remedy = 'Give each its own.';
  for (const [index, name] of names.entries()) {
    const isTaken = names.slice(0, index).some((other) => values[other] === values[name]);
    if (isTaken) report(context, name, { expected: 'a name that the other two parameters do not have', remedy });
  }
}

/** Under a lower rate no order could be placed: the search and the write must fit into one attempt. */
function checkRequestRate(
  { PARTNER_MAX_RPS: rate, PARTNER_TIMEOUT: timeoutMs }: Values,
  context: z.RefinementCtx,
): void {
  if (typeof rate !== 'number' || rate <= 0 || typeof timeoutMs !== 'number') return;
  const lowest = lowestRequestRate({ partnerTimeoutMs: timeoutMs });
  if (rate >= lowest) return;
  const why = "so that a placement's search and write fit into one attempt";
  const expected = `at least ${lowest} with PARTNER_TIMEOUT=${timeoutMs}ms, ${why}`;
  report(context, 'PARTNER_MAX_RPS', { expected, remedy: `Set PARTNER_MAX_RPS=${lowest}, or raise PARTNER_TIMEOUT.` });
}

function checkAddresses(values: Values, context: z.RefinementCtx): void {
  const { HEALTH_ADDRESS: health, METRICS_ADDRESS: metrics } = values;
  if (!health?.port || health.host !== metrics?.host || health.port !== metrics.port) return;
  const remedy = 'Choose another port.';
  report(context, 'METRICS_ADDRESS', { expected: 'another address than HEALTH_ADDRESS', remedy });
}

function checkDestination(values: Values, context: z.RefinementCtx): void {
  const { DELIVERY_URL: url, DELIVERY_DIR: dir, DELIVERY_SECRET: secret } = values;
  const expected = 'either DELIVERY_URL or DELIVERY_DIR';
  if (url !== undefined && dir !== undefined) {
    report(context, 'DELIVERY_URL', { expected, got: 'both', remedy: 'Remove one of them.' });
  } else if (url === undefined && dir === undefined) {
    const remedy = 'Set the one that says where keys are to go.';
    report(context, 'DELIVERY_URL', { expected, got: 'neither', remedy });
  } else if (url !== undefined && secret === undefined) {
    report(context, 'DELIVERY_SECRET', {
      expected: 'a secret, because DELIVERY_URL is set and what is posted there is signed',
      remedy: `Set DELIVERY_SECRET to ${describeVariable('DELIVERY_SECRET').example}, here and at the receiver.`,
    });
  }
}

export interface VariableDescription {
  /** w: the worker, s: the starter. */
  readBy: 'w' | 's' | 'w s';
  /** For people, Markdown. */
  meaning: string;
  /** Ends the sentence "expected …". */
  expected: string;
  example: string;
  /** As one would write it. */
  default?: string;
  required: boolean;
  /** Never shown. */
  hidden: boolean;
  /** Also read from the file that NAME_FILE names. */
  secret: boolean;
}

/** What people read about a variable: in messages, in docs/configuration.md and in .env.example. */
export function describeVariable(name: VariableName): VariableDescription {
  const { description, expected, example, hidden, secret, default: written } = metadataOf(name);
  return {
    readBy: readersOf(name),
    meaning: String(description),
    expected: String(expected),
    example: String(written || example),
    default: written as string | undefined,
    required: !variables.shape[name].safeParse(undefined).success,
    hidden: hidden === true,
    secret: secret === true,
  };
}

function metadataOf(name: VariableName) {
  return z.toJSONSchema(variables.shape[name], { io: 'input' });
}

function readersOf(name: VariableName): VariableDescription['readBy'] {
  const byWorker = name in workerVariables.shape;
  const byStarter = [starterVariables, partnerVariables, scheduleVariables].some(({ shape }) => name in shape);
  if (byWorker && byStarter) return 'w s';
  return byWorker ? 'w' : 's';
}

export const VARIABLE_NAMES = Object.keys(variables.shape) as VariableName[];

export const SECRET_NAMES: readonly VariableName[] = VARIABLE_NAMES.filter((name) => metadataOf(name).secret === true);
