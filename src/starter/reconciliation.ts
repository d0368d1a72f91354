import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { RECONCILE_NOW, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW } from '../contracts/names';
import { command } from '../contracts/operator-commands';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput, type ReconciliationResult } from '../contracts/reconciliation';
import { lookbackIssue, pendingFailure, rootCauseOf } from '../temporal/client';
import { RECONCILIATION_TIMEOUT_MS, schedulePolicies } from '../workflows/policies';
import { FulfilmentError } from './errors';
import { describeNamespace } from './describe-namespace';

/** The reconciliation could not start, or ended without a result. */
export class ReconciliationError extends FulfilmentError {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

const WATCH_INTERVAL_MS = 5_000;
/** The exit code of the commands if the server rejects the settings. */
const CONFIGURATION = 78;

/**
 * Runs a reconciliation now and waits until it ends. Needs a running worker.
 *
 * @param watcher learns the id of the run, and each new failure of an attempt. The worker tries again.
 * @throws ReconciliationError if another manual reconciliation is running, if the lookback is longer than the
 * namespace's retention minus one day, or if the run failed or was cancelled.
 */
export async function reconcileNow(
  client: Client,
  taskQueue: string,
  input: ReconcileInput = {},
  { onStart, onFailure }: { onStart?(runId: string): void; onFailure?(message: string): void } = {},
): Promise<ReconciliationResult> {
  await refuseLongLookback(client, input.lookbackMs ?? DEFAULT_LOOKBACK_MS);
  try {
    const handle = await client.workflow.start(RECONCILE_WORKFLOW, {
      workflowId: RECONCILE_NOW,
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowExecutionTimeout: RECONCILIATION_TIMEOUT_MS,
      staticSummary: input.dryRun ? 'manual reconciliation that only reports' : 'manual reconciliation',
    });
    onStart?.(handle.firstExecutionRunId);
    const stop = watchFailures(handle, onFailure);
    return (await handle.result().finally(stop)) as ReconciliationResult;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      throw new ReconciliationError(
        `A manual reconciliation is still running: workflow ${RECONCILE_NOW}. ` +
          `To wait for it: npm run temporal -- workflow show --follow --workflow-id ${RECONCILE_NOW}`,
      );
    }
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw new ReconciliationError(`The reconciliation ended without a result: ${rootCauseOf(error).message}`);
  }
}

/** @returns a function that stops watching. */
function watchFailures(handle: WorkflowHandle, onFailure: (message: string) => void = () => undefined): () => void {
  let last: string | undefined;
  let isWatching = true;
  const look = async () => {
    const message = pendingFailure(await handle.describe().catch(() => undefined))?.message;
    if (isWatching && message !== undefined && message !== last) onFailure((last = message));
  };
  const timer = setInterval(() => void look(), WATCH_INTERVAL_MS);
  return () => {
    isWatching = false;
    clearInterval(timer);
  };
}

/** @throws ReconciliationError if the lookback is longer than the namespace's retention minus one day. */
async function refuseLongLookback(client: Client, lookbackMs: number): Promise<void> {
  const issue = await lookbackIssue(client, lookbackMs);
  if (issue !== undefined) throw new ReconciliationError(issue, CONFIGURATION);
}

/** The settings of the nightly schedule. */
export interface ScheduleSettings {
  /** A cron expression of five fields, in `timezone`. */
  cron: string;
  /** A name of the IANA database, such as `Europe/Warsaw`. */
  timezone: string;
  lookbackMs: number;
}

/** The nightly schedule on the server. Timestamps are ISO 8601. */
export interface NightlySchedule extends ScheduleSettings {
  scheduleId: string;
  /** The task queue of its runs. */
  taskQueue: string;
  paused: boolean;
  note?: string;
  /** The next runs. */
  next: string[];
  /** The last runs, oldest first. */
  recent: { at: string; workflowId: string }[];
  running: string[];
  /** How many runs were skipped because another was active, and missed because the server was down. */
  skipped: number;
  missed: number;
}

/** The nightly schedule does not exist, or the server rejected its settings. */
export class ScheduleError extends FulfilmentError {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** The most next runs, and the most recent runs, in a description. */
const MAX_RUNS = 5;

/** Manages the nightly schedule. All methods except `create` throw ScheduleError if it does not exist. */
export interface ScheduleManager {
  /**
   * Creates the schedule, or updates it to these settings. A paused schedule stays paused.
   *
   * @throws ScheduleError if the server rejects the settings.
   * @throws ReconciliationError if the lookback is too long.
   */
  create(settings: ScheduleSettings): Promise<{ created: boolean; schedule: NightlySchedule }>;
  describe(): Promise<NightlySchedule>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts a run now, unless a run of the schedule is active. */
  trigger(): Promise<void>;
  delete(): Promise<void>;
}

/** Creates a manager for the only schedule of a namespace. */
export function createScheduleManager(client: Client, taskQueue: string): ScheduleManager {
  const handle = client.schedule.getHandle(RECONCILE_SCHEDULE);
  const describe = () => requireSchedule(client, handle.describe().then(toNightlySchedule));
  return {
    async create(settings) {
      await refuseLongLookback(client, settings.lookbackMs);
      const definition = definitionOf(settings, taskQueue);
      const created = await createOrUpdate(client, definition).catch((error: unknown) => {
        // The SDK throws a TypeError for an argument that the server rejects. Other errors stay as they are.
        if (!(error instanceof TypeError)) throw error;
        const { cron, timezone } = settings;
        throw new ScheduleError(`The server rejected "${cron}" in ${timezone}: ${error.message}`, CONFIGURATION);
      });
      return { created, schedule: await describe() };
    },
    describe,
    pause: () => requireSchedule(client, handle.pause('paused with `schedule pause`')),
    resume: () => requireSchedule(client, handle.unpause('resumed with `schedule resume`')),
    // The SDK's default would start a second run next to an active one.
    trigger: () => requireSchedule(client, handle.trigger(ScheduleOverlapPolicy.SKIP)),
    delete: () => requireSchedule(client, handle.delete()),
  };
}

function definitionOf({ cron, timezone, lookbackMs }: ScheduleSettings, taskQueue: string) {
  return {
    // The server turns the expression into a calendar, but keeps the text after the hash, which `describe` shows.
    spec: { cronExpressions: [`${cron} # ${cron}`], timezone, jitter: schedulePolicies.jitter },
    action: {
      type: 'startWorkflow' as const,
      workflowType: RECONCILE_WORKFLOW,
      workflowId: RECONCILE_SCHEDULE,
      taskQueue,
      args: [{ lookbackMs, timeZone: timezone } satisfies ReconcileInput],
      workflowExecutionTimeout: RECONCILIATION_TIMEOUT_MS,
      staticSummary: 'the nightly reconciliation',
    },
    policies: {
      overlap: ScheduleOverlapPolicy.SKIP,
      catchupWindow: schedulePolicies.catchupWindow,
      pauseOnFailure: false,
    },
  };
}

/** @returns true if the schedule was created, false if it was updated. */
async function createOrUpdate(client: Client, definition: ReturnType<typeof definitionOf>): Promise<boolean> {
  try {
    await client.schedule.create({ scheduleId: RECONCILE_SCHEDULE, ...definition });
    return true;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(RECONCILE_SCHEDULE).update(({ state }) => ({ ...definition, state }));
    return false;
  }
}

function requireSchedule<T>(client: Client, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw new ScheduleError(
      `There is no schedule ${RECONCILE_SCHEDULE} in ${describeNamespace(client)}. To create it: ${command('schedule create')}`,
    );
  });
}

function toNightlySchedule(description: ScheduleDescription): NightlySchedule {
  const { scheduleId, spec, state, info, action } = description;
  const { args = [], taskQueue } = action;
  const [input] = args as ReconcileInput[];
  return {
    scheduleId,
    taskQueue,
    cron: spec.calendars?.[0]?.comment ?? '',
    timezone: spec.timezone ?? 'UTC',
    lookbackMs: input?.lookbackMs ?? 0,
    paused: state.paused,
    note: state.note || undefined,
    next: state.paused ? [] : info.nextActionTimes.slice(0, MAX_RUNS).map((time) => time.toISOString()),
    recent: info.recentActions.slice(-MAX_RUNS).map(({ takenAt, action: { workflow } }) => ({
      at: takenAt.toISOString(),
      workflowId: workflow.workflowId,
    })),
    running: info.runningActions.map(({ workflow }) => workflow.workflowId),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
  };
}
