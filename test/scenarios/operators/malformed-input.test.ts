import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createReconcileActivities, type ReconcileDependencies } from '../../../src/activities/reconcile';
import { DELIVER_WORKFLOW, RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import type { ReconcileOrdersInput } from '../../../src/contracts/reconciliation';
import { rejectionOf } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';
import { answerWorkflowTask, scheduleActivity } from '../../support/workflow-task';

const MEGABYTE = 1_000_000;

let env: TestEnvironment;
beforeAll(async () => {
  env = await startReconciliationEnvironment({ settings: { partnerTimeoutMs: 4_000, deliveryTimeoutMs: 4_000 } });
});

const start = (workflowType: string, args: unknown[], workflowId: string = randomUUID()) =>
  env.client.workflow.start(workflowType, {
    workflowId,
    taskQueue: env.taskQueue,
    args,
    // A workflow task that fails forever ends here, so the failure that the test sees is not one of ours.
    workflowExecutionTimeout: 300_000,
  });

const failureOf = async (handle: WorkflowHandle) => (await rejectionOf(handle.result()))?.cause;

describe('a workflow with malformed input fails at once, and none of its tasks is retried forever', () => {
  it.concurrent.each([
    ['null', null],
    ['a list', []],
    ['a string', '72h'],
    ['a number', 72],
    ['a lookback that is a string', { lookbackMs: '72h' }],
    ['a lookback of NaN, which JSON makes null', { lookbackMs: NaN }],
    ['a lookback of zero', { lookbackMs: 0 }],
    ['a lookback into the future', { lookbackMs: -HOUR }],
    ['a lookback beyond any date', { lookbackMs: Number.MAX_VALUE }],
    ['a dry run that is a string', { dryRun: 'false' }],
    ['a time zone that is a number', { timeZone: 1 }],
    ['a time zone that is an object', { timeZone: {} }],
    ['a time zone of a megabyte', { timeZone: 'U'.repeat(MEGABYTE) }],
    ['undecodable input that may have asked for a dry run', UNDECODABLE_VALUES[0]],
  ])('reconcileWorkflow with %s fails as InvalidReconciliation', async (_, input) => {
    const failure = await failureOf(await start(RECONCILE_WORKFLOW, [input]));
    expect(failure).toMatchObject({ type: 'InvalidReconciliation', nonRetryable: true });
  });

  it.concurrent.each<[string, unknown[]]>([
    ['nothing', []],
    ['null', [null]],
    ['a list', [[]]],
    ['a string', ['purchase.overdue']],
    ['undecodable input', [UNDECODABLE_VALUES[0]]],
    ['an event in place of a purchase', [{ type: 'purchase.overdue', lines: [] }]],
    ['an empty reference', [{ referenceId: ' ' }]],
    ['a reference that is a number', [{ referenceId: 7 }]],
    ['a purchase under another id than its own', [{ referenceId: 'SALE-1' }]],
    ['an invalid option', [{ referenceId: 'SALE-1', again: 'yes' }]],
    ['a reference of a megabyte', [{ referenceId: 'R'.repeat(MEGABYTE) }]],
  ])('deliverWorkflow with %s fails as InvalidDelivery and sends nothing', async (_, args) => {
    const failure = await failureOf(await start(DELIVER_WORKFLOW, args));
    expect(failure).toMatchObject({ type: 'InvalidDelivery', nonRetryable: true });
    expect(env.receiver.attempts).toEqual([]);
  });
});

describe('an activity with malformed input or a malformed result', () => {
  it.each([
    ['an instant that JSON turned into null', { from: null }],
    ['a missing instant', { from: undefined }],
    ['an instant that is a string', { to: '2026-01-01' }],
    ['a missing dry run', { dryRun: undefined }],
    ['a missing time zone', { timeZone: undefined }],
  ])('reconcileOrders with %s fails without a retry before it reads anything', async (_, change) => {
    const window = { from: 1, to: 2, dryRun: true, timeZone: 'UTC', ...change };
    const { reconcileOrders } = createReconcileActivities({} as ReconcileDependencies);
    const ended = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(
      reconcileOrders,
      window as unknown as ReconcileOrdersInput,
    );
    await expect(ended).rejects.toMatchObject({ type: 'InvalidReconciliation', nonRetryable: true });
  });

  it('deliverSale started by a foreign workflow fails without a retry and signs nothing', async () => {
    const workflowType = 'somebodyElsesWorkflow';
    const queue = `${env.taskQueue}-of-somebody-else`;
    const handle = await env.client.workflow.start(workflowType, { workflowId: queue, taskQueue: queue });
    const forged = { type: 'purchase.refunded', referenceId: 'SALE-1', outcome: 'REFUNDED' };
    await answerWorkflowTask(env.client, queue, scheduleActivity('deliverSale', env.taskQueue, forged));

    const ended = await waitUntil('the activity has ended', async () => {
      const { events = [] } = await handle.fetchHistory();
      return events?.find(
        (event) => event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes,
      );
    });
    expect(ended.activityTaskFailedEventAttributes?.failure).toMatchObject({
      message: `deliverSale must not be started by ${workflowType}`,
      applicationFailureInfo: { type: 'WrongWorkflow', nonRetryable: true },
    });
    expect(env.receiver.eventsOf('SALE-1')).toEqual([]);
  });

  /** Completes an activity as soon as it is pending. @returns why its workflow failed */
  async function completed(activity: string, handle: WorkflowHandle) {
    const operator = operatorOf(env, handle.workflowId, handle.workflowId);
    await operator.pending(activity);
    await operator.complete(activity, { done: true });
    return failureOf(handle);
  }

  async function redelivery(hinder: (referenceId: string) => unknown) {
    const { referenceId } = await env.bought({ 'demo-instant': 1 });
    hinder(referenceId);
    return start(DELIVER_WORKFLOW, [{ referenceId, again: true }], `deliver-${referenceId}`);
  }

  it('reconcileOrders completed by hand with an invalid result fails reconcileWorkflow', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
    const failure = await completed('reconcileOrders', await start(RECONCILE_WORKFLOW, []));
    env.sandbox.clearFaults();
    expect(failure).toMatchObject({ type: 'InvalidReconciliation' });
  });

  it('deliverSale completed by hand does not count as delivered', async () => {
    const handle = await redelivery((referenceId) => env.receiver.responseTo(referenceId, 503));
    expect(await completed('deliverSale', handle)).toMatchObject({ type: 'DeliveryFailed' });
  });

  it('readEndedPurchase completed by hand without a sale fails deliverWorkflow and sends nothing', async () => {
    const handle = await redelivery(() =>
      env.sandbox.addFault({ operation: 'keys', times: 'always', action: { type: 'hang' } }),
    );
    const before = env.receiver.attempts.length;
    expect(await completed('readEndedPurchase', handle)).toMatchObject({ type: 'InvalidDelivery' });
    expect(env.receiver.attempts).toHaveLength(before);
  });
});
