import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { inHours } from '../../domain/in-hours';
import type { NightlySchedule, ScheduleSettings } from '../../starter/schedule';
import { loadLibrary, loadTemporal } from '../lazy';
import { type Check, fault, ok, warning } from './check';
import { clockCheck } from './clock-check';

export interface TemporalSettings {
  /** Connects once. @throws TemporalUnreachableError, TemporalRefusedError, TemporalConfigError */
  connect(): Promise<Client>;
  /** Absent where the configuration has no usable one; then what needs it is not tried. */
  taskQueue?: string;
  schedule?: ScheduleSettings;
  /** PARTNER_TIMEOUT in ms. */
  partnerTimeoutMs?: number;
  now: () => number;
  /** A task queue that nobody has. */
  ownQueue: string;
}

export interface TemporalFindings {
  checks: Check[];
  /** Where Temporal can't be used at all: 69 or 78. */
  exitCode?: number;
}

/** Of each call, its repetitions included. */
const CALL_MS = 10_000;
const ADDRESS = 'Temporal: address';
const NAMESPACE = 'Temporal: namespace';
const CONFIGURATION = 78;
/** Temporal's numbers for the two kinds of task queue; its proto package is no dependency of ours. */
const TASK_KINDS = [1, 2];

/** Whether Temporal is there, and has what purchases and reconciliations need of it. Changes nothing. */
export async function checkTemporal(settings: TemporalSettings): Promise<TemporalFindings> {
  const { connect, taskQueue, schedule } = settings;
  let client: Client;
  try {
    client = await connect();
  } catch (error) {
    return unusable(error);
  }
  try {
    const namespace = await checkNamespace(client);
    if (namespace.check.level === 'fault') return { checks: [namespace.check], exitCode: namespace.exitCode };
    const checks = [
      ok(ADDRESS, 'a server that answers', 'it answers'),
      namespace.check,
      ...(await checkClock(client, settings)),
      await checkSearchAttributes(client),
      ...(schedule ? [await checkRetention(client, schedule.lookbackMs)] : []),
      ...(schedule && taskQueue !== undefined ? [await checkSchedule(client, schedule, taskQueue)] : []),
      ...(taskQueue === undefined ? [] : [await checkWorkers(client, taskQueue)]),
    ];
    return { checks };
  } finally {
    await client.connection.close();
  }
}

function unusable(error: unknown): TemporalFindings {
  const { exitCode } = error as { exitCode?: unknown };
  if (typeof exitCode !== 'number') throw error;
  const variable = exitCode === CONFIGURATION ? 'TEMPORAL_API_KEY, TEMPORAL_TLS…' : 'TEMPORAL_ADDRESS';
  const remedy = 'Change them, or the file that TEMPORAL_CONFIG_FILE names; then run doctor again.';
  const got = (error as Error).message;
  return { checks: [fault(ADDRESS, 'a server that answers', got, { variable, remedy })], exitCode };
}

async function checkNamespace(client: Client): Promise<{ check: Check; exitCode?: number }> {
  const { namespace } = client.options;
  const expected = `namespace ${namespace}, and a key that may use it`;
  try {
    await within(client, () => client.workflowService.describeNamespace({ namespace }));
    return { check: ok(NAMESPACE, expected, 'it is there') };
  } catch (error) {
    const { GRPC_STATUS, grpcErrorOf, refusalOf } = loadTemporal();
    const refusal = refusalOf(error);
    if (refusal) {
      const remedy = `Give this key the right to use namespace ${namespace}, or set another.`;
      return {
        check: fault(NAMESPACE, expected, refusal.cause, { variable: 'TEMPORAL_API_KEY', remedy }),
        exitCode: CONFIGURATION,
      };
    }
    if (grpcErrorOf(error)?.code !== GRPC_STATUS.NOT_FOUND) return { check: failed(NAMESPACE, expected, error) };
    const remedy = `Set it to one that is there, or: temporal operator namespace create --namespace ${namespace} --retention 120h`;
    return { check: fault(NAMESPACE, expected, 'no such namespace', { variable: 'TEMPORAL_NAMESPACE', remedy }) };
  }
}

function checkSearchAttributes(client: Client): Promise<Check> {
  const name = 'Temporal: search attributes';
  const expected = `${SEARCH_ATTRIBUTES.map((attribute) => attribute.name).join(', ')}, of type Keyword`;
  return tried(name, expected, async () => {
    const { namespace } = client.options;
    const { missingSearchAttributes } = loadTemporal();
    const missing = await within(client, () => missingSearchAttributes(client.connection, namespace));
    if (missing.length === 0) return ok(name, expected, 'they are there');
    const remedy =
      'Run: node dist/starter.js setup. One that is there with another type has to be removed first: ' +
      `temporal operator search-attribute remove --namespace ${namespace} --name NAME`;
    return fault(name, expected, `none of that type: ${missing.join(', ')}`, {
      variable: 'TEMPORAL_NAMESPACE',
      remedy,
    });
  });
}

function checkRetention(client: Client, lookbackMs: number): Promise<Check> {
  const name = 'Temporal: retention';
  const expected = `RECONCILE_LOOKBACK (${inHours(lookbackMs)}) and a day`;
  return tried(name, expected, async () => {
    const issue = await within(client, () => loadTemporal().lookbackIssue(client, lookbackMs));
    if (issue === undefined) return ok(name, expected, 'that long or longer');
    return fault(name, expected, 'less', { variable: 'RECONCILE_LOOKBACK', remedy: issue });
  });
}

function checkSchedule(client: Client, wanted: ScheduleSettings, taskQueue: string): Promise<Check> {
  const name = 'Temporal: schedule';
  const expected = `"${wanted.cron}" in ${wanted.timezone}, looks back ${inHours(wanted.lookbackMs)}, on ${taskQueue}`;
  return tried(name, expected, async () => {
    const { createScheduleManager, ScheduleError } = loadLibrary();
    try {
      const found = await within(client, () => createScheduleManager(client, taskQueue).describe());
      return compareSchedules(name, expected, found, { ...wanted, taskQueue });
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      return fault(name, expected, 'none: no night is reconciled', { remedy: CREATE });
    }
  });
}

const CREATE = 'Run: node dist/starter.js schedule create';

function compareSchedules(
  name: string,
  expected: string,
  found: NightlySchedule,
  wanted: ScheduleSettings & { taskQueue: string },
): Check {
  const variables = {
    cron: 'RECONCILE_CRON',
    timezone: 'RECONCILE_TIMEZONE',
    lookbackMs: 'RECONCILE_LOOKBACK',
    taskQueue: 'TEMPORAL_TASK_QUEUE',
  } as const;
  const fields = Object.keys(variables) as (keyof typeof variables)[];
  const others = fields.filter((field) => found[field] !== wanted[field]);
  const got = `"${found.cron}" in ${found.timezone}, looks back ${inHours(found.lookbackMs)}, on ${found.taskQueue}`;
  if (others.length > 0) {
    const variable = others.map((field) => variables[field]).join(', ');
    return fault(name, expected, got, { variable, remedy: `${CREATE}, or change the variable` });
  }
  if (!found.paused) return ok(name, expected, 'just that');
  return warning(name, expected, 'just that, but it is paused', {
    remedy: 'Run: node dist/starter.js schedule resume',
  });
}

function checkWorkers(client: Client, taskQueue: string): Promise<Check> {
  const name = 'Temporal: workers';
  const expected = `a worker that takes work from ${taskQueue}`;
  return tried(name, expected, async () => {
    const { namespace } = client.options;
    const kinds = await within(client, () =>
      Promise.all(
        TASK_KINDS.map((taskQueueType) =>
          client.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType }),
        ),
      ),
    );
    const counts = kinds.map(({ pollers }) => pollers?.length ?? 0);
    const workers = Math.min(...counts);
    if (workers > 0) return ok(name, expected, `${workers} seen in the last minutes`);
    const remedy = 'Start one: node dist/worker.js. If one runs, it takes work from another queue.';
    return warning(name, expected, 'none seen in the last minutes', { variable: 'TEMPORAL_TASK_QUEUE', remedy });
  });
}

/**
 * No call says what time it is there. But a task queue shows when somebody asked it last, so it is asked for work that it never
 * has. The server forgets such a queue by itself.
 */
async function checkClock(client: Client, { now, ownQueue, partnerTimeoutMs }: TemporalSettings): Promise<Check[]> {
  if (partnerTimeoutMs === undefined) return [];
  const queue = { namespace: client.options.namespace, taskQueue: { name: ownQueue } };
  const stop = new AbortController();
  const asked = now();
  const asking = client
    .withAbortSignal(stop.signal, () =>
      within(client, () => client.workflowService.pollWorkflowTaskQueue({ ...queue, identity: 'doctor' })),
    )
    .catch(() => undefined);
  try {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const { pollers } = await within(client, () =>
        client.workflowService.describeTaskQueue({ ...queue, taskQueueType: TASK_KINDS[0] ?? 1 }),
      );
      const serverMs = loadTemporal().epochMsOf(pollers?.[0]?.lastAccessTime);
      const answered = now();
      if (serverMs > 0) {
        // It was asked at some moment between the two.
        const differenceMs = serverMs < asked ? serverMs - asked : Math.max(0, serverMs - answered);
        return [clockCheck('Temporal', differenceMs, partnerTimeoutMs)];
      }
      await new Promise((resolve) => void setTimeout(resolve, 100));
    }
    return [];
  } catch {
    // What Temporal refuses here, it may allow all the same where it counts: the other checks say so.
    return [];
  } finally {
    stop.abort();
    await asking;
  }
}

const MOST_TRIES = 20;

/** One check that fails takes none of the others with it. */
async function tried(name: string, expected: string, check: () => Promise<Check>): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    return failed(name, expected, error);
  }
}

function failed(name: string, expected: string, error: unknown): Check {
  const { grpcErrorOf } = loadTemporal();
  const said = grpcErrorOf(error)?.details ?? (error instanceof Error ? error.message : String(error));
  return fault(name, expected, said.slice(0, 200), { remedy: 'Run doctor again; Temporal itself may not be well.' });
}

function within<T>(client: Client, call: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + CALL_MS, call);
}
