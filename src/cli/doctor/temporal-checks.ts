import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { command } from '../../contracts/operator-commands';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { formatHours, pluralize, toSingleLine } from '../../domain/text-format';
import { describeNamespace } from '../../starter/describe-namespace';
import { createScheduleManager, ScheduleError } from '../../starter/index';
import {
  epochMsOf,
  GRPC_STATUS,
  grpcErrorOf,
  listPollers,
  lookbackIssue,
  missingSearchAttributes,
  refusalOf,
} from '../../temporal/client';
import { formatScheduleSettings, type WantedSchedule } from '../output';
import { uiViewsOf } from '../ui-views';
import { type Checklist, compareClocks, type DoctorOptions, type OpenCheck, PLAINTEXT_REMEDY } from './checklist';

/** The time limit of each check. */
const CHECK_MS = 10_000;
const CONFIGURATION = 78;

/**
 * Checks that Temporal is reachable and has what purchases and reconciliations need. It changes nothing.
 *
 * @returns 69 or 78 if Temporal can't be used at all.
 */
export async function checkTemporal(options: DoctorOptions, checklist: Checklist): Promise<number | undefined> {
  const address = checklist.check('Temporal: address', 'a server that responds');
  let client: Client;
  try {
    const connected = await options.connect();
    client = connected.client;
    if (connected.isKeyUnencrypted)
      checklist.check('Temporal: API key', 'TLS', 'ALLOW_PLAINTEXT').warning('plain text', PLAINTEXT_REMEDY);
  } catch (error) {
    const { exitCode, message, reason = message } = error as Error & { exitCode?: unknown; reason?: string };
    if (typeof exitCode !== 'number') throw error;
    const isRefused = exitCode === CONFIGURATION;
    const variable = isRefused ? 'TEMPORAL_API_KEY, TEMPORAL_TLS…' : 'TEMPORAL_ADDRESS';
    const wrong = isRefused ? 'the API key and the TLS settings' : 'the address, and whether a server is running there';
    const remedy = `Check ${wrong}. If you use TEMPORAL_CONFIG_FILE, check that file too. Then run doctor again.`;
    address.failed(reason, remedy, variable);
    return exitCode;
  }
  address.ok(describeNamespace(client));
  const { temporalUiUrl } = options.config;
  if (temporalUiUrl !== undefined) checklist.views = uiViewsOf(temporalUiUrl, client.options.namespace, options.now());
  try {
    return await checkServer(client, options, checklist);
  } finally {
    await client.connection.close();
  }
}

async function checkServer(client: Client, options: DoctorOptions, checklist: Checklist): Promise<number | undefined> {
  const { taskQueue, schedule, partner } = options.config;
  const inTime = <T>(run: () => Promise<T>) => client.withDeadline(Date.now() + CHECK_MS, run);
  const runCheck = async <T>(name: string, expected: string, run: (check: OpenCheck) => Promise<T>) => {
    const check = checklist.check(`Temporal: ${name}`, expected);
    try {
      return await inTime(() => run(check));
    } catch (error) {
      // A failed check must not stop the others.
      const message = grpcErrorOf(error)?.details ?? (error instanceof Error ? error.message : String(error));
      return check.problem(toSingleLine(message, 200), 'Run doctor again. Temporal itself may have a problem.');
    }
  };
  const namespace = `namespace ${client.options.namespace}, and an API key that may use it`;
  const usable = await runCheck('namespace', namespace, (check) => checkNamespace(check, client));
  if (usable !== true) return usable || undefined;
  const differenceMs = await inTime(() => clockDifference(client, options)).catch(() => undefined);
  if (differenceMs !== undefined && partner) compareClocks(checklist, 'Temporal', differenceMs, partner.timeoutMs);
  const attributes = `${SEARCH_ATTRIBUTES.map(({ name }) => name).join(', ')}, of type Keyword`;
  await runCheck('search attributes', attributes, (check) => checkSearchAttributes(check, client));
  if (schedule) {
    const retention = `at least RECONCILE_LOOKBACK (${formatHours(schedule.lookbackMs)}) plus a day`;
    await runCheck('retention', retention, async (check) => {
      const issue = await lookbackIssue(client, schedule.lookbackMs);
      if (issue === undefined) check.ok(`long enough for RECONCILE_LOOKBACK (${formatHours(schedule.lookbackMs)})`);
      else check.problem('a shorter retention', issue, 'RECONCILE_LOOKBACK');
    });
  }
  if (taskQueue === undefined) return undefined;
  const wanted = schedule && { ...schedule, taskQueue };
  if (wanted) await runCheck('schedule', inWords(wanted), (check) => checkSchedule(check, client, wanted));
  const worker = `a worker on task queue ${taskQueue}`;
  await runCheck('workers', worker, (check) => checkWorkers(check, client, taskQueue));
  return undefined;
}

/** @returns true if the namespace can be used; otherwise the exit code, if this problem has one. */
async function checkNamespace(check: OpenCheck, client: Client): Promise<true | number | undefined> {
  const { namespace } = client.options;
  try {
    await client.workflowService.describeNamespace({ namespace });
    check.ok(`${namespace} exists`);
    return true;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) {
      const remedy = `Give this API key access to namespace ${namespace}, or set another API key.`;
      check.problem(refusal.cause, remedy, 'TEMPORAL_API_KEY');
      return CONFIGURATION;
    }
    if (grpcErrorOf(error)?.code !== GRPC_STATUS.NOT_FOUND) throw error;
    const creation = `npm run temporal -- operator namespace create --namespace ${namespace} --retention 720h`;
    check.problem('no such namespace', `Name an existing namespace, or run: ${creation}`, 'TEMPORAL_NAMESPACE');
    return undefined;
  }
}

/**
 * Reads Temporal's clock. No call returns the time, but a task queue shows when it was last polled. So doctor polls a
 * queue that never has work; the server forgets it by itself.
 *
 * @returns Temporal's clock minus this machine's, in ms; undefined if the queue does not show the poll.
 */
async function clockDifference(client: Client, { now }: DoctorOptions): Promise<number | undefined> {
  const { namespace } = client.options;
  const name = `doctor-${randomUUID()}`;
  const stop = new AbortController();
  const asked = now();
  const queue = { namespace, taskQueue: { name }, identity: 'doctor' };
  const poll = () => client.workflowService.pollWorkflowTaskQueue(queue);
  const polling = client.withAbortSignal(stop.signal, poll).catch(() => undefined);
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      const [pollers] = await listPollers(client.workflowService, namespace, name);
      const serverMs = epochMsOf(pollers[0]?.lastAccessTime);
      // The server saw the poll at some moment between the two readings of this machine's clock.
      if (serverMs > 0) return serverMs < asked ? serverMs - asked : Math.max(0, serverMs - now());
      await sleep(100);
    }
    return undefined;
  } finally {
    stop.abort();
    await polling;
  }
}

async function checkSearchAttributes(check: OpenCheck, client: Client): Promise<void> {
  const { namespace } = client.options;
  const missing = await missingSearchAttributes(client.connection, namespace);
  if (missing.length === 0) return check.ok('all are registered');
  const remedy =
    `Run: ${command('setup')}. First remove any that is registered with another type: ` +
    `npm run temporal -- operator search-attribute remove --namespace ${namespace} --name NAME`;
  check.problem(`missing or of another type: ${missing.join(', ')}`, remedy, 'TEMPORAL_NAMESPACE');
}

const SCHEDULE_VARIABLES = {
  cron: 'RECONCILE_CRON',
  timezone: 'RECONCILE_TIMEZONE',
  lookbackMs: 'RECONCILE_LOOKBACK',
  taskQueue: 'TEMPORAL_TASK_QUEUE',
} as const;

async function checkSchedule(check: OpenCheck, client: Client, wanted: WantedSchedule): Promise<void> {
  const create = `Run: ${command('schedule create')}`;
  try {
    const found = await createScheduleManager(client, wanted.taskQueue).describe();
    const fields = Object.entries(SCHEDULE_VARIABLES) as [keyof WantedSchedule, string][];
    const others = fields.flatMap(([field, variable]) => (found[field] === wanted[field] ? [] : [variable]));
    if (others.length > 0) check.problem(inWords(found), `${create}, or change the variable.`, others.join(', '));
    else if (found.paused) check.warning('this schedule, but paused', `Run: ${command('schedule resume')}`);
    else check.ok(inWords(found));
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    check.problem('none: nothing is reconciled at night', create);
  }
}

function inWords(schedule: WantedSchedule): string {
  return `a nightly schedule: ${formatScheduleSettings(schedule)}`;
}

async function checkWorkers(check: OpenCheck, client: Client, taskQueue: string): Promise<void> {
  const kinds = await listPollers(client.workflowService, client.options.namespace, taskQueue);
  const workers = Math.min(...kinds.map((pollers) => pollers.length));
  if (workers > 0) return check.ok(`${pluralize(workers, 'worker')} seen in the last few minutes`);
  const remedy = 'Start a worker: node dist/worker.js. If a worker is running, it polls another task queue.';
  check.warning('none in the last few minutes', remedy, 'TEMPORAL_TASK_QUEUE');
}
