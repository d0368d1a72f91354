import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { command } from '../../contracts/operator-commands';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { inHours, inOneLine } from '../../domain/texts';
import { createScheduleManager, ScheduleError, type ScheduleSettings } from '../../starter/index';
import {
  epochMsOf,
  GRPC_STATUS,
  grpcErrorOf,
  listPollers,
  lookbackIssue,
  missingSearchAttributes,
  refusalOf,
} from '../../temporal/client';
import { uiViewsOf } from '../ui-views';
import { compareClocks, type DoctorOptions, type Findings, type OpenCheck, PLAINTEXT_REMEDY } from './findings';

/** Of each check. */
const CHECK_MS = 10_000;
const CONFIGURATION = 78;

/**
 * Whether Temporal is there, and has what purchases and reconciliations need of it. Changes nothing.
 *
 * @returns an exit code where Temporal can't be used at all: 69 or 78.
 */
export async function checkTemporal(options: DoctorOptions, findings: Findings): Promise<number | undefined> {
  const address = findings.check('Temporal: address', 'a server that answers');
  let client: Client;
  try {
    const connected = await options.connect();
    client = connected.client;
    if (connected.isKeyPlain)
      findings.check('Temporal: API key', 'TLS', 'ALLOW_PLAINTEXT').warning('plain text', PLAINTEXT_REMEDY);
  } catch (error) {
    const { exitCode, message } = error as Error & { exitCode?: unknown };
    if (typeof exitCode !== 'number') throw error;
    const variable = exitCode === CONFIGURATION ? 'TEMPORAL_API_KEY, TEMPORAL_TLS…' : 'TEMPORAL_ADDRESS';
    const remedy = 'Change them, or the file that TEMPORAL_CONFIG_FILE names; then run doctor again.';
    address.fault(message, remedy, variable);
    return exitCode;
  }
  address.ok('it answers');
  const { temporalUiUrl } = options.config;
  if (temporalUiUrl !== undefined) findings.views = uiViewsOf(temporalUiUrl, client.options.namespace, options.now());
  try {
    return await checkServer(client, options, findings);
  } finally {
    await client.connection.close();
  }
}

async function checkServer(client: Client, options: DoctorOptions, findings: Findings): Promise<number | undefined> {
  const { taskQueue, schedule, partner } = options.config;
  const inTime = <T>(run: () => Promise<T>) => client.withDeadline(Date.now() + CHECK_MS, run);
  const attempt = async <T>(name: string, expected: string, run: (check: OpenCheck) => Promise<T>) => {
    const check = findings.check(`Temporal: ${name}`, expected);
    try {
      return await inTime(() => run(check));
    } catch (error) {
      // A check that fails takes none of the others with it.
      const said = grpcErrorOf(error)?.details ?? (error instanceof Error ? error.message : String(error));
      return check.fault(inOneLine(said, 200), 'Run doctor again; Temporal itself may not be well.');
    }
  };
  const namespace = `namespace ${client.options.namespace}, and a key that may use it`;
  const usable = await attempt('namespace', namespace, (check) => checkNamespace(check, client));
  if (usable !== true) return usable || undefined;
  const differenceMs = await inTime(() => clockDifference(client, options)).catch(() => undefined);
  if (differenceMs !== undefined && partner) compareClocks(findings, 'Temporal', differenceMs, partner.timeoutMs);
  const attributes = `${SEARCH_ATTRIBUTES.map(({ name }) => name).join(', ')}, of type Keyword`;
  await attempt('search attributes', attributes, (check) => checkSearchAttributes(check, client));
  if (schedule) {
    const retention = `RECONCILE_LOOKBACK (${inHours(schedule.lookbackMs)}) and a day`;
    await attempt('retention', retention, async (check) => {
      const issue = await lookbackIssue(client, schedule.lookbackMs);
      if (issue === undefined) check.ok('that long or longer');
      else check.fault('less', issue, 'RECONCILE_LOOKBACK');
    });
  }
  if (taskQueue === undefined) return undefined;
  const wanted = schedule && { ...schedule, taskQueue };
  if (wanted) await attempt('schedule', inWords(wanted), (check) => checkSchedule(check, client, wanted));
  const worker = `a worker that takes work from ${taskQueue}`;
  await attempt('workers', worker, (check) => checkWorkers(check, client, taskQueue));
  return undefined;
}

/** @returns true if it can be used; else the exit code, if there is one for that. */
async function checkNamespace(check: OpenCheck, client: Client): Promise<true | number | undefined> {
  const { namespace } = client.options;
  try {
    await client.workflowService.describeNamespace({ namespace });
    check.ok('it is there');
    return true;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) {
      const remedy = `Give this key the right to use namespace ${namespace}, or set another.`;
      check.fault(refusal.cause, remedy, 'TEMPORAL_API_KEY');
      return CONFIGURATION;
    }
    if (grpcErrorOf(error)?.code !== GRPC_STATUS.NOT_FOUND) throw error;
    const command = `temporal operator namespace create --namespace ${namespace} --retention 120h`;
    check.fault('no such namespace', `Set it to one that is there, or: ${command}`, 'TEMPORAL_NAMESPACE');
    return undefined;
  }
}

/**
 * No call says what time it is there. But a task queue shows when somebody asked it last, so doctor asks one that never has work.
 * The server forgets such a queue by itself.
 *
 * @returns Temporal's clock less this machine's in ms; undefined if it does not show.
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
      // It was asked at some moment between the two.
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
  if (missing.length === 0) return check.ok('they are there');
  const remedy =
    `Run: ${command('setup')}. One that is there with another type has to be removed first: ` +
    `temporal operator search-attribute remove --namespace ${namespace} --name NAME`;
  check.fault(`none of that type: ${missing.join(', ')}`, remedy, 'TEMPORAL_NAMESPACE');
}

type Schedule = ScheduleSettings & { taskQueue: string };

const SCHEDULE_VARIABLES = {
  cron: 'RECONCILE_CRON',
  timezone: 'RECONCILE_TIMEZONE',
  lookbackMs: 'RECONCILE_LOOKBACK',
  taskQueue: 'TEMPORAL_TASK_QUEUE',
} as const;

async function checkSchedule(check: OpenCheck, client: Client, wanted: Schedule): Promise<void> {
  const create = `Run: ${command('schedule create')}`;
  try {
    const found = await createScheduleManager(client, wanted.taskQueue).describe();
    const fields = Object.entries(SCHEDULE_VARIABLES) as [keyof Schedule, string][];
    const others = fields.flatMap(([field, variable]) => (found[field] === wanted[field] ? [] : [variable]));
    if (others.length > 0) check.fault(inWords(found), `${create}, or change the variable`, others.join(', '));
    else if (found.paused) check.warning('just that, but it is paused', `Run: ${command('schedule resume')}`);
    else check.ok('just that');
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    check.fault('none: no night is reconciled', create);
  }
}

function inWords({ cron, timezone, lookbackMs, taskQueue }: Schedule): string {
  return `"${cron}" in ${timezone}, looks back ${inHours(lookbackMs)}, on ${taskQueue}`;
}

async function checkWorkers(check: OpenCheck, client: Client, taskQueue: string): Promise<void> {
  const kinds = await listPollers(client.workflowService, client.options.namespace, taskQueue);
  const workers = Math.min(...kinds.map((pollers) => pollers.length));
  if (workers > 0) return check.ok(`${workers} seen in the last minutes`);
  const remedy = 'Start one: node dist/worker.js. If one runs, it takes work from another queue.';
  check.warning('none seen in the last minutes', remedy, 'TEMPORAL_TASK_QUEUE');
}
