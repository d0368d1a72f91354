import { createScheduleManager } from '../../../src/starter/reconciliation';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** Runs the nightly schedule now, to its end. */
async function nextNight(
  env: TestEnvironment,
  lookbackMs: number,
  taskQueue = env.taskQueue,
): Promise<ReconciliationResult> {
  const manager = createScheduleManager(env.client, taskQueue);
  await manager.create({ cron: '0 3 * * *', timezone: 'UTC', lookbackMs });
  const before = (await manager.describe()).recent.length;
  await manager.trigger();
  const started = await waitUntil('it has started', async () => (await manager.describe()).recent[before]);
  const result = (await env.client.workflow.getHandle(started.workflowId).result()) as ReconciliationResult;
  await env.untilListed(`WorkflowId = '${started.workflowId}' AND ExecutionStatus = 'Completed'`, 1);
  return result;
}

const hoursBetween = (one: string, other: string) => (Date.parse(other) - Date.parse(one)) / HOUR;

describe('what a reconciliation has not read', () => {
  it('a scheduled run reaches back beyond the last one that read everything, so that no night is left out', async () => {
    const env = await startReconciliationEnvironment({ reconcilesAheadMs: 3 * HOUR });
    await env.bought({ 'demo-instant': 1 });
    await env.untilListed("PurchaseState = 'DELIVERED'", 1);
    const first = await nextNight(env, 12 * HOUR);
    expect(hoursBetween(first.from, first.to)).toBe(12);
    env.sandbox.settings({ historyLagMs: 1_000_000 });
    expect(await nextNight(env, 12 * HOUR)).toMatchObject({ hasGaps: true, findings: { UNREADABLE: 1 } });
    env.sandbox.settings({ historyLagMs: 0 });
    env.sandbox.addPastOrders({ count: 1, endsBeforeMs: 20 * HOUR });
    // A run by hand reads what it is told to, and is not the last one.
    expect((await env.reconcile({ lookbackMs: 12 * HOUR })).findings).toEqual({});

    const second = await nextNight(env, 12 * HOUR);
    expect(second.findings).toEqual({ ORPHAN: 1 });
    expect(hoursBetween(second.from, first.to)).toBeGreaterThanOrEqual(24);
    expect(hoursBetween(second.from, first.to)).toBeLessThan(25);
  });

  it('if it may not reach back far enough, it names the time that nobody has read', async () => {
    const env = await startReconciliationEnvironment();
    // With such a lookback, it would be too late a moment after the last run.
    const first = await nextNight(env, 10);
    const { from, to, details } = await nextNight(env, 10);
    expect(Date.parse(to) - Date.parse(from)).toBe(30);
    expect(Date.parse(first.to)).toBeLessThan(Date.parse(from));
    expect(details).toMatchObject([{ kind: 'UNREADABLE', done: 'unrepaired' }]);
    expect(details[0]?.explanation).toMatch(
      /^Not everything was reconciled: no scheduled reconciliation has completely read the orders from/,
    );
    expect(details[0]?.explanation).toContain(`to ${from}.`);
    expect(details[0]?.advice).toContain('npx fulfilment reconcile --lookback');
  });

  it('counts a night on an earlier task queue', async () => {
    const env = await startReconciliationEnvironment();
    await nextNight(env, 10);
    await startReadyWorker({ env: workerEnvOf(env, { TEMPORAL_TASK_QUEUE: 'renamed' }) });
    expect(await nextNight(env, 10, 'renamed')).toMatchObject({ findings: { UNREADABLE: 1 } });
  });

  it('an order history that lacks orders which exist is reported, because it may also lack others', async () => {
    const env = await startReconciliationEnvironment({ reconcilesAheadMs: 3 * HOUR });
    const bought = await Promise.all([env.bought({ 'demo-instant': 1 }), env.bought({ 'demo-instant': 1 })]);
    await env.untilListed("PurchaseState = 'DELIVERED'", 2);
    expect((await env.reconcile()).findings).toEqual({});

    env.sandbox.settings({ historyLagMs: 1_000_000 });
    const { details } = await env.reconcile();
    expect(details).toMatchObject([{ kind: 'UNREADABLE', orderIds: [], done: 'unrepaired' }]);
    expect(details[0]?.explanation).toMatch(/^The order history is incomplete: it lacks orders that the partner shows/);
    expect(bought.some(({ orderId }) => details[0]?.explanation.includes(`such as ${orderId}.`))).toBe(true);
  });

  it('an adopted order that was placed before the lookback is not missing from the history', async () => {
    const env = await startReconciliationEnvironment({ reconcilesAheadMs: 3 * HOUR });
    const referenceId = env.reference();
    const createdAt = new Date(Date.now() - 100 * HOUR).toISOString();
    const items = [{ id: 'demo-instant', quantity: 1 }];
    const { id: orderId } = await env.sandbox.placeManualOrder({ referenceId, items, createdAt });
    // Pages of other old orders, so that the reading ends before its row.
    env.sandbox.addPastOrders({ count: 1_500, days: 1, endsBeforeMs: 74 * HOUR, referencePrefix: 'OLD-' });
    expect(await env.bought({ 'demo-instant': 1 }, referenceId)).toMatchObject({ orderId });
    await env.bought({ 'demo-instant': 1 });
    await env.untilListed("PurchaseState = 'DELIVERED'", 2);

    expect((await env.reconcile()).findings).toEqual({});
  });
});
