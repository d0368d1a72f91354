import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { Decision, HoldNotice, HoldReason, PurchaseResult } from '../../../src/contracts/purchase';
import { purchaseWorkflowId, RESOLVE_UPDATE } from '../../../src/contracts/names';
import type { World } from '../../support/world';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
/** The id of an event, as the server gave it. */
export type Point = NonNullable<Event['eventId']>;

/** The services that the Temporal UI and CLI use, for one purchase. */
export interface Hands {
  /** Resets to a workflow task that was completed, as the UI's Reset does, updates reapplied. @returns the new run's id */
  reset(point: Point, runId?: string): Promise<string>;
  pause(activity: string): Promise<void>;
  unpause(activity: string): Promise<void>;
  resetActivity(activity: string, options?: { keepPaused?: boolean; resetHeartbeat?: boolean }): Promise<void>;
  /** Changes timeout and retry options of a pending activity, as `temporal activity update-options` does. */
  updateOptions(activity: string): Promise<void>;
  /** As `temporal activity complete`. */
  complete(activity: string, result: unknown): Promise<void>;
  /** As `temporal activity fail`, which makes it final; or as a worker that can be asked again. */
  fail(activity: string, options?: { final: boolean }): Promise<void>;
  cancel(): Promise<void>;
  /** Whether the wish to cancel stands in the history. */
  cancelHeard(): Promise<boolean>;
  /** Whether the workflow has nothing to think about just now. */
  tasksDone(): Promise<boolean>;
  terminate(): Promise<void>;
  /** Answers the open hold, or the one that is named. */
  resolve(decision: Decision['decision'], rest?: Partial<Decision>): Promise<void>;
  /** The workflow task completions of a run, by their event ids. */
  points(runId?: string): Promise<Point[]>;
  /** Waits for a pending activity with a given number of attempts and, unless `between` is set, one that is running. */
  pending(activity: string, attempt?: number): Promise<PendingActivity>;
  isPending(activity: string): Promise<boolean>;
  /** Updates that the workflow heard, taken or refused by it; one that the validator refused leaves nothing. */
  updatesOnRecord(): Promise<number>;
  /** Waits for an open hold of that reason, other than the ones given. */
  held(reason: HoldReason, ...other: HoldNotice[]): Promise<HoldNotice>;
  /** Event types of the history, by count. */
  scheduled(activity: string, runId?: string): Promise<number>;
  /** Causes of failed workflow tasks. A reset leaves one; anything else is a bug or a non-determinism. */
  brokenTasks(): Promise<string[]>;
  result(): Promise<PurchaseResult>;
}

export interface PendingActivity {
  attempt: number;
  running: boolean;
  paused: boolean;
  lastFailure?: string;
}

const ALL_ELIGIBLE = 3;
const WORKFLOW_TASK_COMPLETED = 7;
const STARTED = 2;
/** Of gRPC. */
const NOT_FOUND = 5;

/** Everything that a person can do to one purchase. */
export function handsOn(world: World, referenceId: string): Hands {
  const { client } = world;
  const { workflowService } = client;
  const { namespace } = client.options;
  const workflowId = purchaseWorkflowId(referenceId);
  const handle = client.workflow.getHandle(workflowId);
  const byType = (type: string) => ({ namespace, execution: { workflowId }, identity: 'a person', type });

  const runOf = async (runId?: string) => runId ?? (await handle.describe()).runId;
  const historyOf = async (runId?: string) =>
    (await client.workflow.getHandle(workflowId, await runOf(runId)).fetchHistory()).events ?? [];
  const pendingNow = async (activity: string) => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === activity);
  };
  const idOf = async (activity: string) => {
    const found = await pendingNow(activity);
    if (!found?.activityId) throw new Error(`${activity} of ${referenceId} is not pending`);
    return { namespace, workflowId, activityId: found.activityId, identity: 'a person' };
  };
  const openHold = async () => (await world.starter.status(referenceId)).hold;

  const hands: Hands = {
    async reset(point, runId) {
      const { runId: made } = await workflowService.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, runId: await runOf(runId) },
        workflowTaskFinishEventId: point,
        requestId: randomUUID(),
        reason: 'pressed by a person',
        resetReapplyType: ALL_ELIGIBLE,
      });
      return made;
    },
    async pause(activity) {
      await workflowService.pauseActivity({ ...byType(activity), reason: 'pressed by a person' });
    },
    async unpause(activity) {
      await workflowService.unpauseActivity(byType(activity));
    },
    async resetActivity(activity, options = {}) {
      await workflowService.resetActivity({ ...byType(activity), ...options });
    },
    async updateOptions(activity) {
      await workflowService.updateActivityOptions({
        ...byType(activity),
        activityOptions: { retryPolicy: { maximumAttempts: 50, initialInterval: { nanos: 200_000_000 } } },
        updateMask: { paths: ['retry_policy.maximum_attempts', 'retry_policy.initial_interval'] },
      });
    },
    async complete(activity, result) {
      const payload = client.options.loadedDataConverter.payloadConverter.toPayload(result);
      await workflowService.respondActivityTaskCompletedById({
        ...(await idOf(activity)),
        result: { payloads: [payload] },
      });
    },
    async fail(activity, { final } = { final: true }) {
      // The server lets an attempt fail that is running, and none that waits for its turn.
      await until(async () => {
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
    cancelHeard: async () =>
      (await historyOf()).some((event) => Boolean(event.workflowExecutionCancelRequestedEventAttributes)),
    tasksDone: async () => !(await handle.describe()).raw.pendingWorkflowTask,
    terminate: async () => void (await handle.terminate('pressed by a person')),
    async resolve(decision, rest = {}) {
      const hold = rest.hold ?? (await until(openHold)).id;
      await handle.executeUpdate(RESOLVE_UPDATE, { args: [{ decision, ...rest, hold }] });
    },
    async points(runId) {
      const events = await historyOf(runId);
      return events.filter((event) => event.eventType === WORKFLOW_TASK_COMPLETED).map((event) => event.eventId!);
    },
    async pending(activity, attempt = 1) {
      const found = await until(async () => {
        const now = await pendingNow(activity);
        return now && (now.attempt ?? 1) >= attempt ? now : undefined;
      });
      return {
        attempt: found.attempt ?? 1,
        running: found.state === STARTED,
        paused: found.paused === true,
        lastFailure: found.lastFailure?.message ?? undefined,
      };
    },
    isPending: async (activity) => (await pendingNow(activity)) !== undefined,
    updatesOnRecord: async () =>
      (await historyOf()).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length,
    held: (reason, ...other) =>
      until(async () => {
        const hold = await openHold();
        return hold?.reason === reason && !other.some(({ id }) => id === hold.id) ? hold : undefined;
      }),
    async scheduled(activity, runId) {
      const names = (await historyOf(runId)).map(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name,
      );
      return names.filter((name) => name === activity).length;
    },
    async brokenTasks() {
      const failed = (await historyOf()).map((event) => event.workflowTaskFailedEventAttributes);
      return failed.flatMap((task) =>
        task && !task.failure?.resetWorkflowFailureInfo ? [String(task.failure?.message)] : [],
      );
    },
    result: () => world.starter.result(referenceId),
  };
  return hands;
}

/** Asks again until there is an answer. No deadline but the test's own. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** What the judges say: orders in the partner's books, and under how many event ids each key came to the checkout. */
export async function judge(world: World, referenceId: string) {
  const orders = await world.sandbox.ordersOf(referenceId);
  const { issued, received } = await world.keys(referenceId);
  return { orders: orders.length, sent: world.sandbox.placeRequestsOf(referenceId), issued, received };
}

/** Ids that came with other keys than before, which must never happen. */
export function idsWithOtherKeys(world: World): string[] {
  const seen = new Map<string, string>();
  const wrong: string[] = [];
  for (const { id, body } of world.receiver.attempts) {
    const keys = JSON.stringify(
      (body.data.lines ?? []).flatMap((line) => (line.keys ?? []).map((key) => key.value)).toSorted(),
    );
    if (seen.has(id) && seen.get(id) !== keys) wrong.push(id);
    seen.set(id, keys);
  }
  return wrong;
}
