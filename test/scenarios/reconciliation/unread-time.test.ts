import { createScheduleManager } from '../../../src/starter/reconciliation';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** Runs the nightly schedule now, to its end. */
async function nextNight(env: TestEnvironment): Promise<ReconciliationResult> {
  const manager = createScheduleManager(env.client, env.taskQueue);
  const before = (await manager.describe()).recent.length;
  await manager.trigger();
  const started = await waitUntil('it has started', async () => (await manager.describe()).recent[before]);
  return (await env.client.workflow.getHandle(started.workflowId).result()) as ReconciliationResult;
}

it('a reconciliation reaches back to the last completed run, so that no order is left out after nights without one', async () => {
  const env = await startReconciliationEnvironment();
  const minute = { cron: '0 3 * * *', timezone: 'UTC', lookbackMs: 60_000 };
  await createScheduleManager(env.client, env.taskQueue).create(minute);
  const first = await nextNight(env);
  expect(Date.parse(first.to) - Date.parse(first.from)).toBe(60_000);
  await env.untilListed("WorkflowType = 'reconcileWorkflow' AND ExecutionStatus = 'Completed'", 1);
  // With another clock, it would have been placed since the first run.
  env.sandbox.addPastOrders({ count: 1, endsBeforeMs: 2 * HOUR });

  const second = await nextNight(env);
  expect(second.findings).toEqual({ ORPHAN: 1 });
  expect(Date.parse(first.to) - Date.parse(second.from)).toBeGreaterThanOrEqual(24 * HOUR);
  // Somebody who asks for less gets less.
  expect((await env.reconcile({ lookbackMs: 1_000 })).findings).toEqual({});
});

it('an order history that lacks orders which exist is reported, because it may also lack others', async () => {
  const env = await startReconciliationEnvironment({ reconcilesAheadMs: 3 * HOUR });
  const bought = await Promise.all([env.bought({ 'demo-instant': 1 }), env.bought({ 'demo-instant': 1 })]);
  await env.untilListed("PurchaseState = 'DELIVERED'", 2);
  expect((await env.reconcile()).findings).toEqual({});

  env.sandbox.settings({ historyLagMs: 1_000_000 });
  const { details } = await env.reconcile();
  expect(details).toMatchObject([{ kind: 'UNREADABLE', orderIds: [], done: 'unrepaired' }]);
  expect(details[0]?.explanation).toMatch(/^The order history is incomplete: it lacks 2 orders that the partner shows/);
  expect(bought.some(({ orderId }) => details[0]?.explanation.includes(`such as ${orderId}.`))).toBe(true);
});
