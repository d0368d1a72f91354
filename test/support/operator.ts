import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { ResolveUpdateInput, Hold } from '../../src/contracts/purchase';
import type { HoldReason } from '../../src/domain/holds';
import { purchaseWorkflowId, RESOLVE_UPDATE } from '../../src/contracts/names';
import { GRPC_STATUS, grpcErrorOf } from '../../src/temporal/client/grpc';
import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
/** The id of an event, in the form that the server sent. */
type Point = NonNullable<Event['eventId']>;

interface PendingActivity {
  attempt: number;
  paused: boolean;
  /** A `PendingActivityState` of Temporal's API. */
  state?: unknown;
  lastFailure?: string;
}

const ALL_ELIGIBLE = 3;
const WORKFLOW_TASK_COMPLETED = 7;
/** A `PendingActivityState`. A paused activity whose attempt still runs has another one. */
const PAUSED = 4;
/** The gRPC status code. */
const NOT_FOUND = 5;

export type Operator = ReturnType<typeof operatorOf>;

/** Everything that a person can do to the workflow of a purchase, or to another workflow of its reference. */
export function operatorOf(
  environment: Pick<TestEnvironment, 'client' | 'starter'>,
  referenceId: string,
  workflowId = purchaseWorkflowId(referenceId),
) {
  const { client } = environment;
  const { workflowService } = client;
  const { namespace } = client.options;
  const handle = client.workflow.getHandle(workflowId);
  const byType = (type: string) => ({ namespace, execution: { workflowId }, identity: 'a person', type });

  const runOf = async (runId?: string) => runId ?? (await handle.describe()).runId;
  const historyOf = async (runId?: string) =>
    (await client.workflow.getHandle(workflowId, await runOf(runId)).fetchHistory()).events ?? [];
  const pendingNow = async (activity: string) => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === activity);
  };
  const pendingWhen = (activity: string, is: string, holds: (found: PendingActivity) => boolean) =>
    waitUntil(`${activity} of ${referenceId} is ${is}`, async () => {
      const now = await pendingNow(activity);
      const found = now && {
        attempt: now.attempt ?? 1,
        paused: now.paused === true,
        state: now.state,
        lastFailure: now.lastFailure?.message ?? undefined,
      };
      return found && holds(found) && found;
    });
  const idOf = async (activity: string) => {
    const found = await pendingNow(activity);
    if (!found?.activityId) throw new Error(`${activity} of ${referenceId} is not pending`);
    return { namespace, workflowId, activityId: found.activityId, identity: 'a person' };
  };
  const openHold = async () => (await environment.starter.status(referenceId)).hold;

  return {
    /** Resets to a completed workflow task and reapplies updates, like Reset in the UI. @returns the new run's id */
    async reset(point: Point, runId?: string): Promise<string> {
      const { runId: made } = await workflowService.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, runId: await runOf(runId) },
        workflowTaskFinishEventId: point,
        requestId: randomUUID(),
        reason: 'done by a person',
        resetReapplyType: ALL_ELIGIBLE,
      });
      return made;
    },
    async pause(activity: string) {
      await workflowService.pauseActivity({ ...byType(activity), reason: 'done by a person' });
    },
    async unpause(activity: string) {
      await workflowService.unpauseActivity(byType(activity));
    },
    async resetActivity(activity: string, options: { keepPaused?: boolean; resetHeartbeat?: boolean } = {}) {
      await workflowService.resetActivity({ ...byType(activity), ...options });
    },
    /** Changes the retry options of a pending activity, like `temporal activity update-options`. */
    async updateOptions(activity: string) {
      const interval = { nanos: 200_000_000 };
      // Server 1.32 rejects an initial interval above the maximum interval.
      const retryPolicy = { maximumAttempts: 50, initialInterval: interval, maximumInterval: interval };
      const paths = ['maximum_attempts', 'initial_interval', 'maximum_interval'].map((name) => `retry_policy.${name}`);
      await workflowService.updateActivityOptions({
        ...byType(activity),
        activityOptions: { retryPolicy },
        updateMask: { paths },
      });
    },
    /** Like `temporal activity complete`. */
    async complete(activity: string, result: unknown) {
      const payload = client.options.loadedDataConverter.payloadConverter.toPayload(result);
      await workflowService.respondActivityTaskCompletedById({
        ...(await idOf(activity)),
        result: { payloads: [payload] },
      });
    },
    /** Like `temporal activity fail`, which is final, or like a worker whose activity is retried. */
    async fail(activity: string, { final } = { final: true }) {
      // The server can fail only a running attempt, not one that is waiting for its retry.
      await waitUntil(`an attempt of ${activity} of ${referenceId} could be failed`, async () => {
        const failed = workflowService.respondActivityTaskFailedById({
          ...(await idOf(activity)),
          failure: { message: 'failed by a person', applicationFailureInfo: { nonRetryable: final } },
        });
        return failed.then(
          () => true,
          (error: { code?: number }) => (error.code === NOT_FOUND ? false : Promise.reject(error)),
        );
      });
    },
    cancel: async () => void (await handle.cancel()),
    async cancelRequested() {
      await waitUntil(`a cancel request is in the history of ${referenceId}`, async () =>
        (await historyOf()).some((event) => Boolean(event.workflowExecutionCancelRequestedEventAttributes)),
      );
    },
    async idle() {
      await waitUntil(
        `${referenceId} has no workflow task pending`,
        async () => !(await handle.describe()).raw.pendingWorkflowTask,
      );
    },
    terminate: async () => void (await handle.terminate('done by a person')),
    /** Answers the open hold, or the named one. */
    async resolve(decision: ResolveUpdateInput['decision'], rest: Partial<ResolveUpdateInput> = {}) {
      const holdId = rest.holdId ?? (await waitUntil(`${referenceId} is held`, openHold)).id;
      const send = () => handle.executeUpdate(RESOLVE_UPDATE, { args: [{ decision, ...rest, holdId }] });
      // The server may abort an update if another event arrives at the same time. Retry once, like our own command.
      await send().catch((error: unknown) => {
        if (grpcErrorOf(error)?.code !== GRPC_STATUS.FAILED_PRECONDITION) throw error;
        return send();
      });
    },
    /** The event ids of all completed workflow tasks in a run. */
    async points(runId?: string) {
      const events = await historyOf(runId);
      return events.filter((event) => event.eventType === WORKFLOW_TASK_COMPLETED).map((event) => event.eventId!);
    },
    /** Waits until an activity is pending at this attempt or a later one. */
    async pending(activity: string, attempt = 1) {
      return pendingWhen(activity, `pending at attempt ${attempt}`, (found) => found.attempt >= attempt);
    },
    async paused(activity: string) {
      await pendingWhen(activity, 'paused', ({ paused }) => paused);
    },
    async pausedBetweenAttempts(activity: string) {
      await pendingWhen(activity, 'paused between two attempts', ({ state }) => state === PAUSED);
    },
    /** Waits until the activity's last failure contains this message. */
    failing: (activity: string, message: string) =>
      pendingWhen(activity, `failing: ${message}`, ({ lastFailure = '' }) => lastFailure.includes(message)),
    isPending: async (activity: string) => (await pendingNow(activity)) !== undefined,
    /** The number of updates in the history. An update that the validator rejected leaves no trace. */
    updatesOnRecord: async () =>
      (await historyOf()).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length,
    /** Waits for an open hold with this reason that is not one of `other`. */
    held: (reason: HoldReason, ...other: Hold[]) =>
      waitUntil(`${referenceId} is held because ${reason}`, async () => {
        const hold = await openHold();
        return hold?.reason === reason && !other.some(({ id }) => id === hold.id) ? hold : undefined;
      }),
    /** The event ids of the workflow tasks that scheduled an activity. */
    async scheduled(activity: string, runId?: string) {
      const all = (await historyOf(runId)).map((event) => event.activityTaskScheduledEventAttributes);
      return all.flatMap((one) => (one?.activityType?.name === activity ? [one.workflowTaskCompletedEventId!] : []));
    },
    /** The inputs with which activities of this type were scheduled. */
    async inputs(activity: string): Promise<unknown[]> {
      const all = (await historyOf()).map((event) => event.activityTaskScheduledEventAttributes);
      const payloads = all.flatMap((one) => (one?.activityType?.name === activity ? (one.input?.payloads ?? []) : []));
      return payloads.map((payload) => client.options.loadedDataConverter.payloadConverter.fromPayload(payload));
    },
    /** The failures of workflow tasks, except the one that a reset causes. Any other is a bug or a non-determinism. */
    async brokenTasks() {
      const failed = (await historyOf()).map((event) => event.workflowTaskFailedEventAttributes);
      return failed.flatMap((task) =>
        task && !task.failure?.resetWorkflowFailureInfo ? [String(task.failure?.message)] : [],
      );
    },
    result: () => environment.starter.result(referenceId),
  };
}
