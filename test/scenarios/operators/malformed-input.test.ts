import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createReconcileActivities, type ReconcileDependencies } from '../../../src/activities/reconcile';
import { DELIVER_WORKFLOW, RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import type { ReconcileOrdersInput } from '../../../src/contracts/reconciliation';
import { rejectionOf } from '../../support/checks';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';

const LINES = [{ productId: 'demo-instant', quantity: 1, fingerprints: [] }];
const OVERDUE = {
  type: 'purchase.overdue',
  at: '2026-01-01T00:00:00.000Z',
  referenceId: 'SALE-1',
  orderId: 'o-1',
  outcome: 'OVERDUE',
  lines: LINES,
};
const LATE = { ...OVERDUE, type: 'purchase.late_delivery', outcome: undefined };

let env: TestEnvironment;
beforeAll(async () => {
  env = await startReconciliationEnvironment({ settings: { partnerTimeoutMs: 4_000, deliveryTimeoutMs: 4_000 } });
});

const start = (workflowType: string, args: unknown[], workflowId: string = randomUUID()) =>
  env.client.workflow.start(workflowType, {
    workflowId,
    taskQueue: env.taskQueue,
    args,
    // A task that fails for ever ends here: what the test then sees is no failure of ours.
    workflowExecutionTimeout: 10_000,
  });

const failureOf = async (workflowType: string, args: unknown[]) =>
  (await rejectionOf((await start(workflowType, args)).result()))?.cause;

describe('a workflow that is started with what it can not use fails at once, and no task of it is tried for ever', () => {
  it.concurrent.each([
    ['null', null],
    ['a list', []],
    ['a string', '72h'],
    ['a number', 72],
    ['a look-back that is a string', { lookbackMs: '72h' }],
    ['a look-back of NaN, which JSON makes null', { lookbackMs: NaN }],
    ['a look-back of nothing', { lookbackMs: 0 }],
    ['a look-back into the future', { lookbackMs: -HOUR }],
    ['a look-back beyond any date', { lookbackMs: Number.MAX_VALUE }],
    ['a dry run that is a string', { dryRun: 'false' }],
    ['a time zone that is a number', { timeZone: 1 }],
    ['a time zone that is an object', { timeZone: {} }],
    ['what can not be decoded, and may have asked for a dry run', UNDECODABLE_VALUES[0]],
  ])('reconcileWorkflow with %s: InvalidReconciliation', async (_, input) => {
    expect(await failureOf(RECONCILE_WORKFLOW, [input])).toMatchObject({
      type: 'InvalidReconciliation',
      nonRetryable: true,
    });
  });

  it.concurrent.each<[string, unknown[]]>([
    ['nothing', []],
    ['null', [null]],
    ['a list', [[]]],
    ['a string', ['purchase.overdue']],
    ['what can not be decoded', [UNDECODABLE_VALUES[0]]],
    ['an event without its time', [{ ...OVERDUE, at: undefined }]],
    ['a time that is none', [{ ...OVERDUE, at: 'yesterday' }]],
    ['a reference that is none', [{ ...OVERDUE, referenceId: ' ' }]],
    ['a type that is none', [{ ...OVERDUE, type: 'purchase.constructor' }]],
    ['another outcome than its type says', [{ ...OVERDUE, outcome: 'DELIVERED' }]],
    ['an outcome without lines', [{ ...OVERDUE, lines: undefined }]],
    ['a late delivery without lines', [{ ...LATE, lines: null }]],
    ['lines that are none', [{ ...LATE, lines: [null] }]],
    ['fingerprints that are none', [{ ...LATE, lines: [{ ...LINES[0], fingerprints: [7] }] }]],
    [
      'keys without the order that they are in',
      [{ ...OVERDUE, orderId: undefined, lines: [{ ...LINES[0], fingerprints: ['s.1'] }] }],
    ],
    ['an order id that would change a path', [{ ...LATE, orderId: '../x' }]],
    [
      'a hold without decisions',
      [{ ...OVERDUE, type: 'purchase.held', hold: 'KEY_GONE', reason: 'x', deduplicationKey: 'x' }],
    ],
    ['an alert without details', [{ ...OVERDUE, type: 'purchase.attention', kind: 'x', deduplicationKey: 'x' }]],
    [
      'keys under an id that keeps no other delivery away',
      [{ ...LATE, lines: [{ ...LINES[0], fingerprints: ['s.1'] }] }],
    ],
    ['a purchase under another id than its own', [{ referenceId: 'SALE-1', deliver: 'all' }]],
    ['a purchase without what is to be delivered', [{ referenceId: 'SALE-1' }]],
    ['a purchase whose order would change a path', [{ referenceId: 'SALE-1', deliver: 'new', orderId: '..' }]],
  ])('deliverWorkflow with %s: InvalidDelivery, and nothing is sent', async (_, args) => {
    expect(await failureOf(DELIVER_WORKFLOW, args)).toMatchObject({ type: 'InvalidDelivery', nonRetryable: true });
    expect(env.receiver.attempts).toEqual([]);
  });
});

describe('an activity that is given or completed with what is none of its own', () => {
  it.each([
    ['an instant that JSON has made null of', { from: null }],
    ['an instant missing', { from: undefined }],
    ['an instant that is a string', { to: '2026-01-01' }],
    ['the dry run missing', { dryRun: undefined }],
    ['the time zone missing', { timeZone: undefined }],
  ])(
    'reconcileOrders with %s fails for good before it reads anything, and never reports that all is well',
    async (_, change) => {
      const window = { from: 1, to: 2, dryRun: true, timeZone: 'UTC', ...change };
      const { reconcileOrders } = createReconcileActivities({} as ReconcileDependencies);
      const ended = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(
        reconcileOrders,
        window as unknown as ReconcileOrdersInput,
      );
      await expect(ended).rejects.toMatchObject({ type: 'InvalidReconciliation', nonRetryable: true });
    },
  );

  const complete = async (workflowType: string, args: unknown[], activity: string, workflowId?: string) => {
    const handle = await start(workflowType, args, workflowId);
    const isPending = async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      const pending = pendingActivities?.find(({ activityType }) => activityType?.name === activity);
      return pending?.activityId ?? undefined;
    };
    const activityId = await waitUntil(`${activity} is pending`, isPending);
    await env.client.activity.complete({ workflowId: handle.workflowId, activityId }, { done: true });
    return (await rejectionOf(handle.result()))?.cause;
  };

  it.each([
    ['reconcileOrders', RECONCILE_WORKFLOW, [], 'InvalidReconciliation'],
    ['deliverEvent', DELIVER_WORKFLOW, [OVERDUE], 'InvalidDelivery'],
  ])('%s completed by an operator with no result of its own fails %s', async (activity, workflowType, args, type) => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
    env.sandbox.addFault({ operation: 'keys', times: 'always', action: { type: 'hang' } });
    env.receiver.answerWith(() => 503);
    expect(await complete(workflowType, args, activity)).toMatchObject({ type });
  });

  it('planDelivery completed by an operator with no plan fails deliverWorkflow, and nothing is sent', async () => {
    env.sandbox.clearFaults();
    env.receiver.answerWith(() => 204);
    const { referenceId } = await env.bought({ 'demo-never': 1 });
    env.sandbox.addFault({ operation: 'keys', times: 'always', action: { type: 'hang' } });
    const before = env.receiver.attempts.length;
    const args = [{ referenceId, deliver: 'all' }];
    expect(await complete(DELIVER_WORKFLOW, args, 'planDelivery', `deliver-${referenceId}`)).toMatchObject({
      type: 'InvalidDelivery',
    });
    expect(env.receiver.attempts).toHaveLength(before);
  });
});
