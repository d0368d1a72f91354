import { readdirSync } from 'node:fs';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { temporaryFolder } from '../../support/clean-up';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

it('a worker killed while it reads, and another killed while it delivers, leave nothing undelivered and deliver nothing twice', async () => {
  const env = await startReconciliationEnvironment({ worker: false });
  const reports = temporaryFolder();
  const start = () => startReadyWorker({ env: workerEnvOf(env, { REPORT_DIR: reports }) });
  let worker = await start();
  env.sandbox.addPastOrders({ count: 2_000, endsBeforeMs: 80 * HOUR });
  const [overdue, terminated] = [await env.buy({ 'demo-never': 2 }), await env.buy({ 'demo-never': 2 })];
  await waitUntil('the order is placed', async () => (await env.starter.status(terminated)).orderId !== undefined);
  await env.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate();
  expect((await env.starter.result(overdue)).outcome).toBe('OVERDUE');
  for (const referenceId of [overdue, terminated]) {
    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
  }
  // The worker's clock is right, so both have to settle first.
  const found = async () => (await env.reconcile({ dryRun: true })).details.length;
  await waitUntil('both are found', async () => (await found()) === 2, { withinMs: 120_000 });

  const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  env.receiver.answerWith(({ body }) => (body.type === 'purchase.late_delivery' ? 'take-and-hang' : 204));
  const running = env.reconcile();
  await waitUntil('it reads the history', () => hanging.hits > 0);
  await worker.end('SIGKILL');
  env.sandbox.clearFaults();
  worker = await start();
  await waitUntil('a late delivery is tried', () =>
    env.receiver.attempts.some(({ body }) => body.type === 'purchase.late_delivery'),
  );
  await worker.end('SIGKILL');
  env.receiver.answerWith(() => 204);
  worker = await start();

  expect(await running).toMatchObject({ findings: { LATE: 1, LOST: 1 } });
  await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
  for (const referenceId of [overdue, terminated]) {
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
    expect(received).toHaveLength(2);
  }
  expect(changedEvents(env.receiver)).toEqual([]);
  expect(env.sandbox.requests().place).toBe(2);
  expect(readdirSync(reports).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect((await env.reconcile()).findings).toEqual({});
  await worker.end('SIGTERM');
}, 180_000);
