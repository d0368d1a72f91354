import { startDevServer } from '../../support/dev-server';
import { type Operator, operatorOf } from '../../support/operator';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { startWorkerOf } from '../../support/worker';
import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { createStarter } from '../../../src/starter/index';

const ACTIVITY_TASKS = 2;

describe('the order in which a worker with one slot gets waiting activities', () => {
  let address: string;

  beforeAll(async () => {
    // Server 1.29 uses priorities only with this setting. With one partition, the queue has a single order.
    const partitions = ['Read', 'Write'].map((side) => `matching.numTaskqueue${side}Partitions=1`);
    const freshCounts = 'matching.TaskQueueInfoByBuildIdTTL="1ms"';
    ({ address } = await startDevServer({ config: ['matching.enableFairness=true', ...partitions, freshCounts] }));
  });

  it('is placements, confirming searches, polls, then the reconciliation, no matter how long each has waited', async () => {
    const env = await startTestEnvironment({
      address,
      worker: false,
      settings: { pollIntervalMs: 60_000 },
    });
    await startWorkerOf(env, { enableNonLocalActivities: false });
    await env.client.workflow.start(RECONCILE_WORKFLOW, { workflowId: 'waits-longest', taskQueue: env.taskQueue });
    await untilPiledUp(env, 1);
    const placed = await respondToPlacement(env, { evidence: 'PLACED', orderId: 'of-nobody' });
    await placed.pending('pollUntilEnded');
    const failed = await respondToPlacement(env, { evidence: 'ERROR_RESPONSE', reason: 'an error' });
    await failed.pending('findOrders');
    await env.buy({ 'demo-instant': 1 });
    // The tasks of the two placements that were completed by hand still count.
    await untilPiledUp(env, 6);

    const dispatched = await startOneSlot(env);
    await waitUntil('the reconciliation begins', () =>
      dispatched.some(({ activity }) => activity === 'reconcileOrders'),
    );
    expect([...new Set(dispatched.map(({ activity }) => activity))]).toEqual([
      'placeOrder',
      'findOrders',
      'pollUntilEnded',
      'reconcileOrders',
    ]);
  });

  it('alternates between checkouts that have fairness keys, instead of serving the first one only', async () => {
    const env = await startTestEnvironment({ address, worker: false });
    await startWorkerOf(env, { enableNonLocalActivities: false });
    const large = createStarter(env.client, { taskQueue: env.taskQueue, fairnessKey: 'large shop' });
    const small = createStarter(env.client, { taskQueue: env.taskQueue, fairnessKey: 'small shop' });
    const items = [{ productId: 'demo-instant', quantity: 1 }];
    for (let count = 1; count <= 10; count++) await large.purchase({ referenceId: env.reference('large'), items });
    await untilPiledUp(env, 10);
    const { workflowId } = await small.purchase({ referenceId: env.reference('small'), items });
    await untilPiledUp(env, 11);

    const dispatched = await startOneSlot(env);
    await waitUntil('all are placed', () => dispatched.length >= 11);
    expect(dispatched.slice(0, 3).map((one) => one.workflowId)).toContain(workflowId);
  });
});

interface Dispatched {
  activity: string;
  workflowId: string | undefined;
}

/** @returns the activities in the order in which the worker gets them */
async function startOneSlot(env: TestEnvironment): Promise<Dispatched[]> {
  const dispatched: Dispatched[] = [];
  await startWorkerOf(env, {
    maxConcurrentActivityTaskExecutions: 1,
    interceptors: {
      activity: [
        ({ info }) => {
          const { activityType: activity, workflowExecution } = info;
          if (!info.isLocal) dispatched.push({ activity, workflowId: workflowExecution?.workflowId });
          return {};
        },
      ],
    },
  });
  return dispatched;
}

/** Starts a purchase and completes its placement by hand, so no worker is needed. */
async function respondToPlacement(env: TestEnvironment, answer: object): Promise<Operator> {
  const operator = operatorOf(env, await env.buy({ 'demo-instant': 1 }));
  await operator.pending('placeOrder');
  await operator.complete('placeOrder', answer);
  return operator;
}

/** Waits until this many activities wait for a worker. */
async function untilPiledUp({ client, namespace, taskQueue }: TestEnvironment, count: number): Promise<void> {
  const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType: ACTIVITY_TASKS, reportStats: true };
  await waitUntil(`${count} activities wait`, async () => {
    const { stats } = await client.workflowService.describeTaskQueue(request);
    return Number(stats?.approximateBacklogCount ?? 0) >= count;
  });
}
